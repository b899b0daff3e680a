#include "sim/hourly_energy.h"

#include <gtest/gtest.h>

#include <numeric>

#include "policy/registry.h"
#include "sim/engine.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

// The steps of power that records keep, integrated one by one and cut at every full hour.
ByHour integrate_steps(const Engine& engine) {
  const std::size_t gpus = engine.state().fleet().gpu_count();
  ByHour hours{};
  std::vector<TimeUs> since(gpus, engine.begin_us());
  std::vector<double> watts(gpus, 0);
  const auto go_on = [&](GpuIndex gpu, TimeUs to) {
    while (since[gpu] < to) {
      const TimeUs end = std::min(to, (since[gpu] / kHourUs + 1) * kHourUs);
      const auto hour = static_cast<std::size_t>(since[gpu] / kHourUs % 24);
      hours[hour] += watts[gpu] * to_s(end - since[gpu]);
      since[gpu] = end;
    }
  };
  for (const PowerRecord& step : engine.records()->power()) {
    if (step.at_us > engine.end_us()) break;
    go_on(step.gpu, step.at_us);
    watts[step.gpu] = step.watts;
  }
  for (GpuIndex gpu = 0; gpu < gpus; ++gpu) go_on(gpu, engine.end_us());
  return hours;
}

struct Case {
  const char* fleet;
  const char* policy;
  Costs costs;
  Preemption preemption;
  std::vector<GpuEvent> events;
};

void expect_integral(const Case& with) {
  const Fleet fleet = Fleet::parse(with.fleet).value();
  GeneratorOptions generator;
  generator.rate = 3;
  generator.days = 2;
  JobTable jobs = generate(generator);
  for (Job& job : jobs.jobs) {  // The run begins within an hour, not with it.
    job.submit_us += 17 * kMinuteUs;
    job.deadline_us += 17 * kMinuteUs;
  }
  EngineOptions options;
  options.costs = with.costs;
  options.preemption = with.preemption;
  options.records = options.hourly_energy = true;
  options.events = with.events;
  Engine engine(fleet, jobs, make_policy(with.policy, fleet).value(), options);
  ASSERT_TRUE(engine.run());
  const ByHour expected = integrate_steps(engine);
  const ByHour found = engine.energy_by_hour_j();
  for (std::size_t hour = 0; hour < found.size(); ++hour)
    EXPECT_NEAR(found[hour], expected[hour], 1e-9 * expected[hour]) << "hour " << hour;
  const double energy_j = engine.energy_j();
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), energy_j, 1e-9 * energy_j);
}

TEST(HourlyEnergy, IsTheIntegralOfThePowerStepsOfEachHour) {
  expect_integral({"2xA100-40GB", "count/cedf", Costs::free(), Preemption::kFree, {}});
  expect_integral({"2xA100-40GB", "none/edf", Costs::real(), Preemption::kCheckpoint, {}});
}

TEST(HourlyEnergy, CountsFallsOfIdleBoardsWhereTheyHappen) {
  Costs costs = Costs::real();
  costs.power_down_after_us = 5 * kMinuteUs;
  costs.off_w = 3;
  expect_integral({"8xA100-40GB", "none/edf", costs, Preemption::kCheckpoint, {}});
}

TEST(HourlyEnergy, KnowsFailuresAndBoardsMeasuredJobByJob) {
  const std::vector<GpuEvent> events = {{5 * kHourUs + 7, 1, true}, {7 * kHourUs, 1, false}};
  expect_integral({"2xH200-141GB", "count/cedf", Costs::real(), Preemption::kOff, events});
}

TEST(HourlyEnergy, StartsAnewWithTheEngine) {
  const Fleet fleet = Fleet::parse("1xA100-40GB").value();
  GeneratorOptions generator;
  generator.rate = 1;
  const JobTable first = generate(generator);
  generator.day = 1;
  const JobTable second = generate(generator);
  EngineOptions options;
  options.hourly_energy = true;
  const Policy policy = make_policy("count/cedf", fleet).value();
  Engine engine(fleet, first, policy, options);
  ASSERT_TRUE(engine.run());
  engine.restart(second, 1);
  ASSERT_TRUE(engine.run());
  Engine fresh(fleet, second, policy, options);
  ASSERT_TRUE(fresh.run());
  EXPECT_EQ(engine.energy_by_hour_j(), fresh.energy_by_hour_j());
}

}  // namespace
}  // namespace smartmig
