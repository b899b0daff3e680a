#include "study/suite_world.h"

#include <cmath>

#include "study/fitting_jobs.h"
#include "study/load.h"

namespace smartmig {

Costs costs_of(const SuiteSetting& setting) {
  const bool start = setting.costs == kRealWithStart;
  auto costs = Costs::parse(start ? "real" : setting.costs);
  SM_CHECK(costs.has_value());
  costs->start_us = std::llround(setting.start_s * kSecondUs);
  costs->name = setting.costs;
  return std::move(*costs);
}

Result<std::unique_ptr<SuiteWorld>> SuiteWorld::make(const SuiteSetting& setting,
                                                     const SuiteTrace* trace) {
  SM_CHECK(!setting.on_trace() || trace != nullptr);
  auto fleet = Fleet::parse(setting.fleet);
  if (!fleet) return pass_on(fleet);
  std::unique_ptr<SuiteWorld> world(new SuiteWorld(setting, trace, std::move(*fleet)));
  RunSettings& settings = world->settings_;
  settings.engine.costs = costs_of(setting);
  settings.engine.preemption = setting.preemption;
  settings.engine.estimate_sigma = setting.estimate_error;
  settings.engine.seed = setting.run_seed();
  settings.engine.start_times = true;
  settings.energy_weight = setting.energy_weight;
  if (const auto* workload = std::get_if<DescribedWorkload>(&setting.jobs)) {
    const auto rate = jobs_per_hour(*workload, world->fleet_);
    if (!rate) return pass_on(rate);
    world->jobs_per_hour_ = *rate;
  }
  return world;
}

Result<DayTable> SuiteWorld::draw(std::size_t day, bool training) const {
  const std::uint64_t number = training ? kTrainingDays + day : day;
  const std::uint64_t seed = settings_.engine.seed;
  if (const auto* workload = std::get_if<DescribedWorkload>(&setting_->jobs)) {
    return std::make_shared<const JobTable>(
        generate_described(*workload, {jobs_per_hour_, fleet_.largest_size(), seed, number}));
  }
  const auto& jobs = std::get<TraceJobs>(setting_->jobs);
  const TraceStretch window = training ? earlier_window(jobs) : jobs.window;
  const auto table = draw_window_jobs(*trace_, jobs, window, seed, number);
  if (!table) return pass_on(table);
  JobTable fitting = fitting_jobs(*table, fleet_);
  if (fitting.jobs.empty()) return fail("no job of the window runs on {}", fleet_.name());
  return std::make_shared<const JobTable>(std::move(fitting));
}

Result<DayTable> SuiteWorld::day(std::size_t day) const { return draw(day, false); }

Result<std::vector<DayTable>> SuiteWorld::training_days(std::size_t count) const {
  std::vector<DayTable> days;
  for (std::size_t day = 0; day < count; ++day) {
    auto table = draw(day, true);
    if (!table) return pass_on(table);
    days.push_back(std::move(*table));
  }
  return days;
}

}  // namespace smartmig
