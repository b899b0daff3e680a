// No run of any policy, in any setting, is below the bounds.
#include <gtest/gtest.h>

#include "bound/bound.h"
#include "foresight/named_policies.h"
#include "random_case.h"
#include "sim/metrics.h"
#include "study/bound_days.h"
#include "study/published.h"
#include "workload/catalogue.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

RunSettings settings_of(const RandomCase& random, const Fleet& fleet) {
  RunSettings settings;
  settings.fleet = &fleet;
  settings.engine = engine_options(random);
  return settings;
}

void expect_bounded(const RunSettings& settings, const std::string& policy, const JobTable& jobs,
                    int rounds) {
  const auto metrics = run_day(settings, *make_named_policy(policy, *settings.fleet), jobs, 0);
  ASSERT_TRUE(metrics) << metrics.error().message;
  const BoundInput input = bound_input(settings, jobs);
  AscentOptions options;
  options.threads = 1;
  options.rounds = rounds;
  // The engine rounds every end to a microsecond, so a start may gain half of one.
  const double starts =
      static_cast<double>(metrics->preemptions) + 10.0 * static_cast<double>(jobs.jobs.size());
  const double late_s = 1e-6 * starts / static_cast<double>(jobs.jobs.size());
  const double energy_j = 1e-6 * starts * 1000 * settings.fleet->gpu_count();
  EXPECT_GE(metrics->energy_j + energy_j, certify(input, Objective::kEnergy, options)->value);
  EXPECT_GE(metrics->avg_tardiness_s + late_s,
            certify(input, Objective::kTardiness, options)->value);
  const double et = weigh(metrics->energy_j + energy_j, metrics->avg_tardiness_s + late_s,
                          settings.energy_weight, settings.fleet->gpu_count(), jobs.nominal_days);
  EXPECT_GE(et, certify(input, Objective::kEt, options)->value);
}

TEST(Bounds, HoldForEveryKindOfPolicyAndSetting) {
  const int cases = case_count(400);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const RandomCase random =
        random_case(17, static_cast<std::uint64_t>(i), i % 5 == 0 ? "smartmig" : "");
    SCOPED_TRACE(fmt::format("case {}\n{}", i, random.describe()));
    const Fleet fleet = Fleet::parse(random.fleet).value();
    RunSettings settings = settings_of(random, fleet);
    // From energy alone mattering to tardiness alone.
    const double weights[] = {2e-7, 1e-9, 1e-4, 1};
    settings.energy_weight = weights[i % 4];
    if (i % 5 == 0) {
      settings.engine.costs.power_down_after_us = (i % 3) * kMinuteUs;
      settings.engine.costs.off_w = i % 2 ? 5 : 60;
    }
    expect_bounded(settings, random.policy, random.jobs, 30);
  }
}

TEST(Bounds, HoldWhereBoardsAreMeasuredJobByJob) {
  const Fleet fleet = Fleet::parse("H200-141GB+A100-40GB").value();
  RunSettings settings;
  settings.fleet = &fleet;
  settings.engine.costs = Costs::real();
  settings.engine.preemption = Preemption::kCheckpoint;
  settings.energy_weight = 1e-4;
  const auto profiles = Catalogue::shipped().profiles();
  for (std::uint64_t day = 0; day < 12; ++day) {
    GeneratorOptions generator;
    generator.fixed_rate = true;
    generator.rate = 1;
    generator.count = 25;
    generator.day = day;
    JobTable jobs = generate(generator);
    // Any profile's watts, also those of jobs that draw more together than the cap.
    Random random(5, "watts", day);
    for (Job& job : jobs.jobs)
      job.profile = static_cast<std::uint16_t>(random.below(profiles.size()));
    SCOPED_TRACE(day);
    for (const char* policy : {"none/edf", "count/cedf", "greedy", "smartmig"})
      expect_bounded(settings, policy, jobs, 30);
  }
}

TEST(Bounds, HoldOnAPapersDayForTheWellKnownPolicies) {
  const Fleet fleet = Fleet::parse("8xA100-40GB").value();
  const JobTable jobs = generate({});
  RunSettings settings;
  settings.fleet = &fleet;
  AscentOptions options;
  options.rounds = 30;
  const double bound = certify(bound_input(settings, jobs), Objective::kEt, options)->value;
  for (const std::string& policy : default_policies(fleet)) {
    const auto metrics = run_day(settings, *make_named_policy(policy, fleet), jobs, 0);
    ASSERT_TRUE(metrics);
    EXPECT_GT(metrics->et, bound * 1.15) << policy << ": as far as is known";
  }
}

}  // namespace
}  // namespace smartmig
