#include "sim/metrics.h"

#include <gtest/gtest.h>

#include "policy/registry.h"

namespace smartmig {
namespace {

// Jobs at time 0 that take 10 s wherever they run.
JobTable ten_second_jobs(std::vector<double> deadlines_s) {
  JobTable table;
  for (const double deadline_s : deadlines_s) {
    Job job;
    job.deadline_us = to_us(deadline_s);
    job.time_us.fill(10 * kSecondUs);
    table.jobs.push_back(job);
  }
  table.nominal_days = 1;
  return table;
}

Metrics measure_run(std::string_view fleet_spec, const JobTable& jobs, double energy_weight,
                    Preemption preemption = Preemption::kOff) {
  const Fleet fleet = *Fleet::parse(fleet_spec);
  EngineOptions options;
  options.preemption = preemption;
  options.start_times = true;
  Engine engine(fleet, jobs, *make_policy("none/first-fit", fleet), options);
  EXPECT_TRUE(engine.run());
  return measure(engine, energy_weight);
}

TEST(Metrics, OfFourJobsOneAfterAnother) {
  // They end at 10, 20, 30 and 40 s: 0, 0, 1 and 9 s late.
  const Metrics metrics = measure_run("A100-40GB", ten_second_jobs({10, 20, 29, 31}), 2e-7);
  EXPECT_EQ(metrics.jobs, 4u);
  EXPECT_DOUBLE_EQ(metrics.avg_tardiness_s, 2.5);
  EXPECT_DOUBLE_EQ(metrics.median_tardiness_s, 0.5);
  EXPECT_NEAR(metrics.p95_tardiness_s, 1 + 0.85 * 8, 1e-12) << "at 2.85 of the sorted 0, 0, 1, 9";
  EXPECT_NEAR(metrics.p99_tardiness_s, 1 + 0.97 * 8, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.late_pct, 50) << "at the deadline is on time";
  EXPECT_NEAR(metrics.energy_j, 40 * 248.5, 1e-9);
  EXPECT_NEAR(metrics.energy_wmin, 40 * 248.5 / 60, 1e-9);
  EXPECT_NEAR(metrics.energy_per_job_j, 10 * 248.5, 1e-9);
  EXPECT_DOUBLE_EQ(metrics.makespan_s, 40);
  EXPECT_EQ(metrics.events, 8) << "four arrivals, four completions";
  EXPECT_EQ(metrics.repartitions, 0);
  EXPECT_EQ(metrics.preemptions, 0);
}

TEST(Metrics, WaitsLastFromSubmitToFirstStart) {
  for (const Preemption preemption : {Preemption::kOff, Preemption::kFree}) {
    JobTable jobs = ten_second_jobs({10, 20, 29, 31});
    jobs.jobs[3].submit_us = to_us(5);
    // They start at 0, 10, 20 and 30 s: waits of 0, 10, 20 and 25 s.
    const Metrics metrics = measure_run("A100-40GB", jobs, 2e-7, preemption);
    EXPECT_DOUBLE_EQ(metrics.worst_wait_s, 25);
    EXPECT_NEAR(metrics.p99_wait_s, 20 + 0.97 * 5, 1e-12) << "at 2.97 of the sorted waits";
  }
}

TEST(Metrics, EtScalesEnergyToEightGpusAndOneDay) {
  const double a = 0.5;
  JobTable jobs = ten_second_jobs({10, 20, 29, 31});
  const double wmin = 40 * 248.5 / 60;
  EXPECT_NEAR(measure_run("A100-40GB", jobs, a).et, (a * wmin * 8 + 2.5 / 60) / (1 + a), 1e-9);
  jobs.nominal_days = 0.25;
  EXPECT_NEAR(measure_run("A100-40GB", jobs, a).et, (a * wmin * 8 * 4 + 2.5 / 60) / (1 + a), 1e-9);
  // Two GPUs: 20 s, both busy, and tardiness 0, 0, 0, 0.
  jobs.nominal_days = 1;
  EXPECT_NEAR(measure_run("2xA100-40GB", jobs, a).et, a * wmin * 4 / (1 + a), 1e-9);
}

TEST(Metrics, WeighIsThePapersFormula) {
  // MODEL: static + cedf on 8 GPUs for a day, 2.57 M W*min and 1.32 min.
  EXPECT_NEAR(weigh(2.57e6 * 60, 1.32 * 60, 2e-7, 8, 1), (2e-7 * 2.57e6 + 1.32) / (1 + 2e-7),
              1e-12);
  EXPECT_EQ(weigh(600, 0, 1, 8, 0), weigh(600, 0, 1, 8, 1)) << "a workload without length is a day";
}

TEST(Metrics, QuantilesInterpolate) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.99), 3);
  EXPECT_EQ(quantile({1, 2, 4}, 0.5), 2);
  EXPECT_EQ(quantile({1, 2, 4}, 0.75), 3);
  EXPECT_EQ(quantile({1, 2, 4}, 0), 1);
  EXPECT_EQ(quantile({1, 2, 4}, 1), 4);
}

TEST(Metrics, TardinessCountsFromADeadlineThatCostsShortened) {
  // Under `paper` the change to 4-3 at 60 s takes 4 s off the job that starts then.
  const Fleet fleet = *Fleet::parse("A100-40GB");
  JobTable jobs = ten_second_jobs({100, 70});
  jobs.jobs[1].submit_us = kMinuteUs;
  EngineOptions options;
  options.costs = Costs::paper();
  options.preemption = Preemption::kOff;
  Engine engine(fleet, jobs, *make_policy("day-night:0=7+0:01=4-3/first-fit", fleet), options);
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(engine.finish_us()[1], 70 * kSecondUs);
  const Metrics metrics = measure(engine, 2e-7);
  EXPECT_DOUBLE_EQ(metrics.avg_tardiness_s, 2);
  EXPECT_EQ(metrics.repartitions, 1);
}

}  // namespace
}  // namespace smartmig
