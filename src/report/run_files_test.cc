#include "report/run_files.h"

#include <gtest/gtest.h>

#include <map>

#include "base/csv.h"
#include "policy/registry.h"
#include "sim/metrics.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

// Two jobs for one A100 cut 4-3, both there at 0: x is on time on either slice, y (deadline 10.5 s)
// on neither.
JobTable two_jobs() {
  JobTable table;
  table.jobs.resize(2);
  table.jobs[0].deadline_us = 20 * kSecondUs;
  table.jobs[0].time_us = {0, 0, 15 * kSecondUs, 10 * kSecondUs, 5 * kSecondUs};
  table.jobs[1].deadline_us = 10 * kSecondUs + 500'000;
  table.jobs[1].time_us = {0, 0, 40 * kSecondUs, 12 * kSecondUs, 5 * kSecondUs};
  table.ids.push_back("a,\"b\"");
  table.ids.push_back("y");
  return table;
}

struct Ran {
  Fleet fleet;
  JobTable jobs;
  Engine engine;

  Ran(const char* fleet_spec, JobTable table, const char* policy, EngineOptions options)
      : fleet(*Fleet::parse(fleet_spec)),
        jobs(std::move(table)),
        engine(fleet, jobs, *make_policy(policy, fleet), with_records(options)) {
    EXPECT_TRUE(engine.run());
  }
  static EngineOptions with_records(EngineOptions options) {
    options.records = true;
    return options;
  }
};

EngineOptions no_preemption() {
  EngineOptions options;
  options.preemption = Preemption::kOff;
  return options;
}

TEST(RunFiles, JobsAreAsWorkedOutByHand) {
  const Ran run("1xA100-40GB", two_jobs(), "static:4-3/slowest-on-time", no_preemption());
  // By deadline y comes first and, late anywhere, takes the 4g (12 s); x takes the 3g. While both
  // run the board draws 248.5 W, 208.5 above idle: 12 s of it, 4/7 for y (1429.714 J) and 3/7 for x
  // (1072.286 J); then x alone, 3 busy, 165.3 W above idle for 3 s more: 495.9 J.
  EXPECT_EQ(jobs_csv(run.engine),
            "job_id,submission_time,starting_time,finish_time,waiting_time,turnaround_time,"
            "allocated_resources,consumed_energy,deadline,tardiness,slice\n"
            "\"a,\"\"b\"\"\",0,0,15,0,15,0,1568.1857142857143,20,0,gpu0:3g.20gb@4\n"
            "y,0,0,12,0,12,0,1429.7142857142858,10.5,1.5,gpu0:4g.20gb@0\n");
  EXPECT_EQ(layouts_csv(run.engine), "time,gpu,layout,target,up\n0,0,4-3,4-3,1\n");
  EXPECT_EQ(energy_csv(run.engine),
            "time,gpu,power_w\n0,0,40\n0,0,248.5\n12,0,205.3\n15,0,40\n15,0,40\n");
}

// The integral of the steps in energy.csv.
double integral_j(const std::string& csv_text) {
  auto csv = *CsvReader::open(csv_text, "energy.csv");
  std::map<double, std::pair<double, double>> last;  // GPU -> since, watts.
  double joules = 0;
  while (csv.next()) {
    const double time = *csv.number(0, 0, 1e10);
    const double gpu = *csv.number(1, 0, 1e6);
    if (const auto at = last.find(gpu); at != last.end())
      joules += (time - at->second.first) * at->second.second;
    last[gpu] = {time, *csv.number(2, 0, 1e6)};
  }
  return joules;
}

JobTable fixed_jobs() {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 3;
  options.count = 400;
  return generate(options);
}

TEST(RunFiles, StepsOfPowerAddUpToTheEnergyOfTheRun) {
  for (const char* costs : {"free", "real"}) {
    for (const Preemption preemption : {Preemption::kFree, Preemption::kCheckpoint}) {
      EngineOptions options;
      options.costs = *Costs::parse(costs);
      options.preemption = preemption;
      options.events = {{kMinuteUs * 10, 1, true}, {kMinuteUs * 30, 1, false}};
      const Ran run("2xA100-40GB+1xH100-80GB", fixed_jobs(), "count/cedf", options);
      const double energy_j = measure(run.engine, 2e-7).energy_j;
      EXPECT_NEAR(integral_j(energy_csv(run.engine)) / energy_j, 1, 1e-9) << costs;
    }
  }
}

TEST(RunFiles, TheTimelineHasARowForEveryFiveMinutes) {
  const Ran run("2xA100-40GB", fixed_jobs(), "count/cedf", {});
  const std::string text = timeline_csv(run.engine);
  auto csv = *CsvReader::open(text, "timeline.csv");
  double expected = to_s(run.engine.begin_us());
  while (csv.next()) {
    EXPECT_NEAR(*csv.number(0, 0, 1e10), expected, 1e-6);
    expected += 300;
    EXPECT_TRUE(csv.number(1, 0, 1));
    EXPECT_TRUE(csv.number(2, 0, 1));
  }
  EXPECT_GE(expected, to_s(run.engine.end_us()));
  EXPECT_LT(expected, to_s(run.engine.end_us()) + 301);
}

}  // namespace
}  // namespace smartmig
