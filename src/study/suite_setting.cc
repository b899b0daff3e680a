#include "study/suite_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "study/fitting_jobs.h"
#include "study/load.h"
#include "study/run_day.h"
#include "workload/fill.h"

namespace smartmig {
namespace {

// The draws of one setting, each from a stream of its own name.
class SettingDraws {
 public:
  SettingDraws(std::uint64_t seed, std::uint64_t number) : seed_(seed), number_(number) {}

  double unit(std::string_view name) const {
    return Random(seed_, fmt::format("suite-{}", name), number_).uniform();
  }
  double of(std::string_view name, const SuiteRange& range) const { return range.at(unit(name)); }
  template <class T>
  const T& of(std::string_view name, const std::vector<T>& choices) const {
    const auto at = static_cast<std::size_t>(unit(name) * static_cast<double>(choices.size()));
    return choices[std::min(at, choices.size() - 1)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t number_;
};

// One board, or two with a share of GPUs that is the first's.
struct BoardMix {
  std::vector<std::string> boards;
  double first_share = 1;

  std::string fleet(int gpus) const {
    if (boards.size() == 1 || gpus == 1) return fmt::format("{}x{}", gpus, boards.front());
    const int first = std::clamp(static_cast<int>(std::lround(first_share * gpus)), 1, gpus - 1);
    return fmt::format("{}x{}+{}x{}", first, boards[0], gpus - first, boards[1]);
  }
};

BoardMix draw_boards(const SuiteRanges& ranges, const SettingDraws& draws) {
  const std::string& word = draws.of("boards", ranges.boards);
  if (word != kMixedBoards) return {{word}, 1};
  std::vector<std::string> boards = ranges.boards;
  std::erase(boards, kMixedBoards);
  BoardMix mix;
  mix.boards.push_back(draws.of("first-board", boards));
  std::erase(boards, mix.boards.front());
  if (!boards.empty()) mix.boards.push_back(draws.of("second-board", boards));
  mix.first_share = draws.unit("first-share");
  return mix;
}

DeadlineRule draw_deadlines(const SuiteRanges& ranges, const SettingDraws& draws) {
  const double low = draws.of("deadlines", ranges.deadline_factor);
  return {low, low * ranges.deadline_spread, 7};
}

// What does not depend on where the jobs come from.
SuiteSetting draw_costs(const SuiteRanges& ranges, std::uint64_t seed, std::uint64_t number) {
  const SettingDraws draws(seed, number);
  SuiteSetting setting;
  setting.seed = seed;
  setting.number = number;
  setting.costs = draws.of("costs", ranges.costs);
  if (setting.costs == kRealWithStart) setting.start_s = draws.of("start", ranges.start_s);
  const auto preemption =
      parse_preemption(draws.of("preemption", ranges.preemption.at(setting.costs)));
  SM_CHECK(preemption.has_value());
  setting.preemption = *preemption;
  setting.estimate_error = draws.of("estimate-error", ranges.estimate_error);
  setting.energy_weight = draws.of("energy-weight", ranges.energy_weight);
  return setting;
}

ArrivalLaw draw_arrivals(const SuiteRanges& ranges, const SettingDraws& draws) {
  const std::string& word = draws.of("arrivals", ranges.generated.arrivals);
  ArrivalLaw law;
  if (word == "paper") {
    law = arrivals_by_curve("paper").value();
  } else if (word == "curve") {
    const DiurnalCurve& curve = draws.of("curve", ranges.curves);
    law.curve = curve.name;
    law.by_hour = curve.by_hour;
  } else if (word == "batches") {
    law.batch_mean = draws.of("batch", ranges.generated.batch_mean);
  }
  return law;
}

JobSizes draw_sizes(const SuiteRanges& ranges, const SettingDraws& draws) {
  JobSizes sizes;
  sizes.law = parse_size_law(draws.of("sizes", ranges.generated.sizes)).value();
  sizes.mean_s = draws.of("mean-size", ranges.generated.mean_size_s);
  sizes.sigma = draws.of("sigma", ranges.generated.lognormal_sigma);
  sizes.shape = draws.of("shape", ranges.generated.pareto_shape);
  sizes.training_factor = draws.of("training-factor", ranges.generated.training_factor);
  return sizes;
}

// The least number of GPUs whose load is at most the drawn one.
std::string fleet_for_load(const SuiteRanges& ranges, const BoardMix& mix, const JobTable& table,
                           const TraceJobs& jobs) {
  int low = static_cast<int>(ranges.gpus.low);
  int high = static_cast<int>(ranges.gpus.high);
  while (low < high) {
    const int middle = (low + high) / 2;
    const Fleet fleet = Fleet::parse(mix.fleet(middle)).value();
    if (load_of(table, to_s(jobs.window.length_us), fleet) <= jobs.load) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return mix.fleet(low);
}

// A window in [from, to) of the trace that leaves room for one of its length before it.
TraceStretch draw_stretch(const SuiteRanges& ranges, const SuiteTrace& trace, Random& random) {
  const TimeUs first_us = trace.trace.jobs.front().submit_us;
  const double drawn_h = ranges.windows.hours.at(random.uniform());
  TraceStretch stretch;
  stretch.length_us = std::min({static_cast<TimeUs>(drawn_h * static_cast<double>(kHourUs)),
                                trace.to_us - trace.from_us, (trace.to_us - first_us) / 2});
  const TimeUs low = std::max(trace.from_us, first_us + stretch.length_us);
  const TimeUs high = trace.to_us - stretch.length_us;
  stretch.begin_us =
      low +
      static_cast<TimeUs>(random.uniform() * static_cast<double>(std::max<TimeUs>(0, high - low)));
  return stretch;
}

}  // namespace

std::string SuiteSetting::name() const { return fmt::format("{}-{}", seed, number); }

std::uint64_t SuiteSetting::run_seed() const { return Random(seed, "suite-runs", number).bits(); }

SuiteSetting draw_setting(const SuiteRanges& ranges, std::uint64_t seed, std::uint64_t number) {
  const SettingDraws draws(seed, number);
  SuiteSetting setting = draw_costs(ranges, seed, number);
  const BoardMix mix = draw_boards(ranges, draws);
  // Whole numbers: each has the room up to the next one.
  SuiteRange gpus = ranges.gpus;
  gpus.high += 1;
  const int drawn = static_cast<int>(draws.of("gpus", gpus));
  setting.fleet = mix.fleet(std::max(drawn, static_cast<int>(mix.boards.size())));
  DescribedWorkload workload;
  workload.arrivals = draw_arrivals(ranges, draws);
  workload.rate_unit = RateUnit::kLoad;
  workload.rate = draws.of("load", ranges.load);
  workload.sizes = draw_sizes(ranges, draws);
  workload.speeds = draws.of("speeds", ranges.speeds);
  workload.training_share = draws.of("training-share", ranges.training_share);
  workload.stoppable_share = draws.of("stoppable-share", ranges.generated.stoppable_share);
  workload.deadlines = draw_deadlines(ranges, draws);
  workload.hours = ranges.generated.hours;
  workload.max_jobs = ranges.generated.max_jobs;
  setting.jobs = std::move(workload);
  return setting;
}

TraceStretch earlier_window(const TraceJobs& jobs) {
  return {jobs.window.begin_us - jobs.window.length_us, jobs.window.length_us};
}

Result<JobTable> draw_window_jobs(const SuiteTrace& trace, const TraceJobs& jobs,
                                  const TraceStretch& window, std::uint64_t seed,
                                  std::uint64_t draw) {
  FillOptions options;
  options.seed = day_seed(seed, draw + 1);
  options.deadlines = jobs.deadlines;
  options.own_deadlines = false;
  options.own_estimates = false;
  options.training_share = jobs.training_share;
  options.profiles = jobs.speeds;
  options.memory = MemoryRule::kIgnore;
  auto filled = fill(cut_window(trace.trace, window, jobs.max_jobs), options, trace.name);
  if (!filled) return pass_on(filled);
  return std::move(filled->table);
}

Result<SuiteSetting> draw_trace_setting(const SuiteRanges& ranges, const SuiteTrace& trace,
                                        std::uint64_t seed, std::uint64_t number) {
  const SettingDraws draws(seed, number);
  SuiteSetting setting = draw_costs(ranges, seed, number);
  TraceJobs jobs;
  jobs.max_jobs = static_cast<std::size_t>(ranges.windows.max_jobs);
  jobs.load = draws.of("load", ranges.load);
  jobs.speeds = draws.of("speeds", ranges.speeds);
  jobs.training_share = draws.of("training-share", ranges.training_share);
  jobs.deadlines = draw_deadlines(ranges, draws);
  const BoardMix mix = draw_boards(ranges, draws);
  const Fleet boards = Fleet::parse(mix.fleet(static_cast<int>(mix.boards.size()))).value();
  // A trace may have hours without a job.
  constexpr int kTries = 100;
  Random random(seed, "suite-window", number);
  for (int i = 0; i < kTries; ++i) {
    jobs.window = draw_stretch(ranges, trace, random);
    const auto table = draw_window_jobs(trace, jobs, jobs.window, setting.run_seed(), 0);
    const TraceStretch before = earlier_window(jobs);
    if (!table || !draw_window_jobs(trace, jobs, before, setting.run_seed(), 0)) continue;
    const JobTable fitting = fitting_jobs(*table, boards);
    if (fitting.jobs.empty()) continue;
    setting.fleet = fleet_for_load(ranges, mix, fitting, jobs);
    setting.jobs = jobs;
    return setting;
  }
  return fail("{}: found no window of {:g} to {:g} hours with jobs in it and in the one before it",
              trace.name, ranges.windows.hours.low, ranges.windows.hours.high);
}

}  // namespace smartmig
