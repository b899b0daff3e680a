#include "study/suite_setting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/shipped.h"
#include "study/fitting_jobs.h"
#include "study/load.h"
#include "study/suite_world.h"

namespace smartmig {
namespace {

const SuiteRanges& ranges() { return shipped_suite_ranges(); }

TEST(SuiteRanges, AreThoseOfTheShippedFile) {
  EXPECT_EQ(ranges().gpus.high, 512);
  EXPECT_EQ(ranges().curves.size(), 17u);
  EXPECT_EQ(ranges().generated.mean_size_s.high, 12 * 3600);
  EXPECT_EQ(ranges().load.low, .2);
  EXPECT_EQ(ranges().load.high, 1.3);
}

TEST(SuiteRanges, AreLogUniformFromAFactorOfTen) {
  const SuiteRange wide = {1, 100};
  EXPECT_NEAR(wide.at(.5), 10, 1e-9);
  const SuiteRange narrow = {1, 9};
  EXPECT_NEAR(narrow.at(.5), 5, 1e-9);
}

TEST(SuiteRanges, NameFieldFoundAndExpected) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string text(shipped_file("suite.json"));
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_suite_ranges(text, "s.json");
    return parsed ? "no error" : parsed.error().message;
  };
  EXPECT_EQ(error("[1, 512]", "[512, 1]"),
            "s.json: gpus: found 2 numbers, expected two, the lower one first");
  EXPECT_EQ(error("\"paper\", \"real\",", "\"papers\", \"real\","),
            "s.json: costs: found unknown 'papers'");
  EXPECT_EQ(error("\"A30\"", "\"A31\""), "s.json: boards: found unknown 'A31'");
}

TEST(SuiteSetting, DependsOnSeedAndNumberAlone) {
  const std::string first = to_json(draw_setting(ranges(), 1, 3)).dump();
  EXPECT_EQ(to_json(draw_setting(ranges(), 1, 3)).dump(), first);
  EXPECT_NE(to_json(draw_setting(ranges(), 1, 4)).dump(), first);
  EXPECT_NE(to_json(draw_setting(ranges(), 2, 3)).dump(), first);
}

TEST(SuiteSetting, StaysWithinTheRangesAndReachesTheirChoices) {
  std::set<std::string> seen;
  int single = 0;
  for (std::uint64_t number = 1; number <= 400; ++number) {
    const SuiteSetting setting = draw_setting(ranges(), 5, number);
    const auto fleet = Fleet::parse(setting.fleet);
    ASSERT_TRUE(fleet) << setting.fleet;
    EXPECT_LE(fleet->gpu_count(), 512u);
    single += fleet->gpu_count() < 23;
    const auto& workload = std::get<DescribedWorkload>(setting.jobs);
    EXPECT_GE(workload.rate, .2);
    EXPECT_LE(workload.rate, 1.3);
    EXPECT_NEAR(workload.deadlines.high, 1.5 * workload.deadlines.low, 1e-9);
    EXPECT_EQ(setting.start_s > 0, setting.costs == kRealWithStart);
    EXPECT_FALSE(setting.costs.starts_with("real") && setting.preemption == Preemption::kFree);
    for (const std::string& word :
         {setting.costs, std::string(to_string(setting.preemption)), workload.speeds,
          std::string(to_string(workload.sizes.law)), workload.arrivals.curve,
          std::string(workload.arrivals.batch_mean > 1 ? "batches" : ""),
          std::string(fleet->boards().size() > 1 ? "mixed" : "")})
      seen.insert(word);
    EXPECT_TRUE(parse_workload(to_json(workload).dump(), "w")) << "as --workload takes it";
  }
  // log(23) is half of log(512).
  EXPECT_NEAR(single, 200, 40);
  for (const char* word : {"free", "paper", "real", "real+start", "checkpoint", "none", "linear",
                           "catalogue", "flat", "memory-bound", "large-only", "exponential",
                           "lognormal", "pareto", "batches", "mixed", "philly-2017"})
    EXPECT_TRUE(seen.contains(word)) << word;
}

SuiteTrace week_of_jobs() {
  SuiteTrace trace;
  trace.name = "week";
  for (int i = 0; i < 7 * 24 * 4; ++i) {
    TraceJob job;
    job.id = std::to_string(i);
    job.submit_us = i * 15 * kMinuteUs;
    job.duration_us = (1 + i % 7) * 30 * kMinuteUs;
    job.gpu_fraction = i % 3 == 0 ? .4 : 1;
    trace.trace.jobs.push_back(job);
  }
  trace.from_us = 3 * kDayUs;
  trace.to_us = 7 * kDayUs;
  return trace;
}

TEST(SuiteSetting, OfATraceSizesTheFleetByLoad) {
  const SuiteTrace trace = week_of_jobs();
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const auto setting = draw_trace_setting(ranges(), trace, 1, number);
    ASSERT_TRUE(setting) << setting.error().message;
    const auto& jobs = std::get<TraceJobs>(setting->jobs);
    EXPECT_GE(jobs.window.begin_us, trace.from_us);
    EXPECT_LE(jobs.window.begin_us + jobs.window.length_us, trace.to_us);
    EXPECT_GE(earlier_window(jobs).begin_us, 0);
    const auto drawn = draw_window_jobs(trace, jobs, jobs.window, setting->run_seed(), 0);
    const double window_s = to_s(jobs.window.length_us);
    const Fleet fleet = *Fleet::parse(setting->fleet);
    const JobTable table = fitting_jobs(*drawn, fleet);
    EXPECT_LE(load_of(table, window_s, fleet), jobs.load);
    EXPECT_LT(fleet.gpu_count(), 200u);
    if (fleet.boards().size() > 1 || fleet.gpu_count() == 1) continue;
    const Fleet smaller =
        *Fleet::parse(fmt::format("{}x{}", fleet.gpu_count() - 1, fleet.board(0).name));
    EXPECT_GT(load_of(table, window_s, smaller), jobs.load) << "one GPU less is too few";
  }
}

TEST(SuiteWorld, ChargesTheDrawnStartOfAProcess) {
  SuiteSetting setting;
  setting.costs = kRealWithStart;
  setting.start_s = 7.25;
  EXPECT_EQ(costs_of(setting).start_us, 7'250'000);
  EXPECT_EQ(costs_of(setting).operation_scale, Costs::real().operation_scale);
  setting.costs = "real";
  setting.start_s = 0;
  EXPECT_EQ(costs_of(setting).start_us, 0);
}

TEST(SuiteWorld, DrawsDeadlinesKindsAndSpeedsOfATraceAnewForEachDay) {
  const SuiteTrace trace = week_of_jobs();
  const auto setting = draw_trace_setting(ranges(), trace, 1, 2);
  ASSERT_TRUE(setting);
  const auto world = SuiteWorld::make(*setting, &trace);
  ASSERT_TRUE(world);
  const DayTable first = (*world)->day(0).value();
  const DayTable second = (*world)->day(1).value();
  ASSERT_EQ(first->jobs.size(), second->jobs.size());
  EXPECT_EQ(first->jobs[0].submit_us, second->jobs[0].submit_us);
  EXPECT_NE(first->jobs[0].deadline_us, second->jobs[0].deadline_us);
  const auto training = (*world)->training_days(1);
  ASSERT_TRUE(training);
  EXPECT_LT((*training)[0]->jobs.back().submit_us, first->jobs.front().submit_us)
      << "an earlier window";
}

TEST(SuiteWorld, LearnsOnOtherDaysThanItScoresOn) {
  const SuiteSetting setting = draw_setting(ranges(), 1, 1);
  const auto world = SuiteWorld::make(setting, nullptr);
  ASSERT_TRUE(world);
  const auto training = (*world)->training_days(2);
  ASSERT_TRUE(training);
  const auto submit_of = [](const DayTable& day) { return day->jobs[0].submit_us; };
  const std::set<TimeUs> submits = {submit_of((*training)[0]), submit_of((*training)[1]),
                                    submit_of((*world)->day(0).value()),
                                    submit_of((*world)->day(1).value())};
  EXPECT_EQ(submits.size(), 4u);
}

}  // namespace
}  // namespace smartmig
