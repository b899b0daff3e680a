#include "study/run_shapes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "policy/registry.h"
#include "sim/metrics.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

struct Ran {
  Ran(const char* fleet_spec, JobTable table, const char* policy, const Costs& costs)
      : fleet(*Fleet::parse(fleet_spec)),
        jobs(std::move(table)),
        engine(fleet, jobs, *make_policy(policy, fleet), options(costs)) {
    EXPECT_TRUE(engine.run());
  }
  static EngineOptions options(const Costs& costs) {
    EngineOptions options;
    options.costs = costs;
    options.preemption = Preemption::kOff;
    options.records = true;
    return options;
  }
  Fleet fleet;
  JobTable jobs;
  Engine engine;
};

Job job(double submit_s, double time_s, double deadline_s, JobKind kind = JobKind::kInference) {
  Job job;
  job.submit_us = to_us(submit_s);
  job.deadline_us = to_us(deadline_s);
  job.time_us.fill(to_us(time_s));
  job.kind = kind;
  return job;
}

JobTable table_of(std::vector<Job> jobs) { return {std::move(jobs), {}, {}, {}, {}, 1, {}}; }

TEST(RunShapes, LateJobsFallIntoBinsByTheirTardiness) {
  // Done at 10, 20 and 30 s: on time, 10 s late (its bin's limit), 18 s late.
  const Ran ran("1xA100-40GB", table_of({job(0, 10, 10), job(0, 10, 10), job(0, 10, 12)}),
                "none/first-fit", Costs::free());
  const RunShapes shapes = shapes_of(ran.engine);
  EXPECT_EQ(shapes.late_jobs[0], 1u);
  EXPECT_EQ(shapes.late_jobs[21], 1u) << RunShapes::late_limit_s(21);
  EXPECT_NEAR(RunShapes::late_limit_s(21), 10, 1e-9);
  EXPECT_EQ(shapes.late_jobs[24], 1u) << RunShapes::late_limit_s(24);
  EXPECT_EQ(std::accumulate(shapes.late_jobs.begin(), shapes.late_jobs.end(), std::uint64_t{0}),
            3u);
}

TEST(RunShapes, EnergyByGpuAndByKindBothSumToTheRuns) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 2;
  options.count = 80;
  const Ran ran("2xA100-40GB", generate(options), "count/cedf", Costs::real());
  const RunShapes shapes = shapes_of(ran.engine);
  const double all_j = measure(ran.engine, 2e-7).energy_j;
  EXPECT_NEAR(std::accumulate(shapes.gpu_energy_j.begin(), shapes.gpu_energy_j.end(), 0.0) / all_j,
              1, 1e-9);
  EXPECT_NEAR((shapes.inference_j + shapes.training_j + shapes.idle_j) / all_j, 1, 1e-9);
  EXPECT_GT(shapes.training_j, 0);
  EXPECT_GT(shapes.inference_j, 0);
}

TEST(RunShapes, LayoutsCountTheHoursTheyStood) {
  // 7 from 0:50 to 1:30, then 4-3 to the end at 2:10.
  const Ran ran("1xA100-40GB", table_of({job(3000, 4800, 1e5)}), "day-night:0=7+1:30=4-3/first-fit",
                Costs::free());
  const RunShapes shapes = shapes_of(ran.engine);
  ASSERT_EQ(shapes.layout_us.size(), 2u);
  EXPECT_EQ(shapes.layout_us.at("7")[0], 10 * kMinuteUs);
  EXPECT_EQ(shapes.layout_us.at("7")[1], 30 * kMinuteUs);
  EXPECT_EQ(shapes.layout_us.at("4-3")[1], 30 * kMinuteUs);
  EXPECT_EQ(shapes.layout_us.at("4-3")[2], 10 * kMinuteUs);
}

TEST(RunShapes, TwoRunsAddUp) {
  const Ran ran("1xA100-40GB", table_of({job(0, 10, 10), job(0, 10, 10, JobKind::kTraining)}),
                "none/first-fit", Costs::free());
  const RunShapes one = shapes_of(ran.engine);
  RunShapes two;
  two.add(one);
  two.add(one);
  EXPECT_EQ(two.jobs, 4u);
  EXPECT_EQ(two.late_jobs[0], 2 * one.late_jobs[0]);
  EXPECT_EQ(two.gpu_energy_j[0], 2 * one.gpu_energy_j[0]);
  EXPECT_EQ(two.training_j, 2 * one.training_j);
  EXPECT_EQ(two.layout_us.at("7")[0], 2 * one.layout_us.at("7")[0]);
}

}  // namespace
}  // namespace smartmig
