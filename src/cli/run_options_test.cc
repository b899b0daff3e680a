#include "cli/run_options.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/file.h"

namespace smartmig {
namespace {

std::string setting_of(const RunOptions& options) {
  const auto setup = read_setup(options);
  if (!setup) return setup.error().message;
  const EngineOptions& engine = (*setup)->settings.engine;
  return fmt::format("{} {}", engine.costs.name, to_string(engine.preemption));
}

TEST(RunOptions, ThePapersWorkloadAloneIsFreeOfCosts) {
  RunOptions options;
  EXPECT_EQ(setting_of(options), "free free");
  options.workload.workload = "paper";
  EXPECT_EQ(setting_of(options), "free free");
  options.costs = "real";
  EXPECT_EQ(setting_of(options), "real free");
}

TEST(RunOptions, EverythingElseCostsWhatHardwareCosts) {
  RunOptions options;
  options.workload.workload = "paper-fixed";
  EXPECT_EQ(setting_of(options), "real checkpoint");
  RunOptions file;
  file.workload.jobs = "jobs.csv";
  EXPECT_EQ(setting_of(file), "real checkpoint");
  file.preemption = "none";
  EXPECT_EQ(setting_of(file), "real none");
}

TEST(RunOptions, RefusesNumbersOutOfRangeAndNamesTheOption) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {-1.0, 1e10, nan}) {
    RunOptions error;
    error.estimate_error = bad;
    EXPECT_TRUE(setting_of(error).starts_with("--estimate-error: found"));
    RunOptions weight;
    weight.energy_weight = bad;
    EXPECT_TRUE(setting_of(weight).starts_with("--energy-weight: found"));
  }
  RunOptions threads;
  threads.threads = -1;
  EXPECT_TRUE(setting_of(threads).starts_with("--threads: found -1"));
}

TEST(RunOptions, DaysOfAStudyAreIndependentAndTheFirstIsTheOneSimulateRuns) {
  RunOptions options;
  options.workload.days = 3;
  options.workload.rate = 1;
  const auto days = read_days(options, false, *Fleet::parse("1xA100-40GB"));
  ASSERT_TRUE(days);
  EXPECT_EQ(days->count, 3u);
  options.workload.days = 1;
  const auto simulated = read_jobs(options.workload, *Fleet::parse("1xA100-40GB"));
  ASSERT_TRUE(simulated);
  const auto submits = [](const JobTable& table) {
    std::vector<TimeUs> times;
    for (const Job& job : table.jobs) times.push_back(job.submit_us);
    return times;
  };
  EXPECT_EQ(submits(**days->day(0)), submits(simulated->table));
  EXPECT_NE(submits(**days->day(1)), submits(**days->day(0)));
  EXPECT_EQ((*days->day(2))->nominal_days, 1);
}

TEST(RunOptions, SplittingIsForFiles) {
  RunOptions options;
  const auto days = read_days(options, true, *Fleet::parse("1xA100-40GB"));
  ASSERT_FALSE(days);
  EXPECT_TRUE(days.error().message.starts_with("--split-days"));
}

TEST(RunOptions, AJobThatTheFleetCannotRunIsPartOfItsDaysWindow) {
  RunOptions options;
  options.workload.jobs = testing::TempDir() + "split_unfit.csv";
  const auto written =
      write_file(options.workload.jobs,
                 "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s,memory_mib\n"
                 "a,0,9,training,7,6,5,4,3,\n"
                 "b,3600,9999,training,7,6,5,4,3,100000\n"
                 "c,86400,99999,training,7,6,5,4,3,100000\n");
  ASSERT_TRUE(written);
  const auto days = read_days(options, true, *Fleet::parse("1xA100-40GB"));
  ASSERT_TRUE(days) << days.error().message;
  ASSERT_EQ(days->count, 1u) << "of the second day no job fits";
  const DayTable day = *days->day(0);
  EXPECT_EQ(day->jobs.size(), 1u);
  EXPECT_EQ(day->trace->last_submit_us, kHourUs);
  EXPECT_EQ(days->file->balance.kept.jobs, 1u);
  EXPECT_EQ(days->file->balance.unfit.total().jobs, 2u);
}

TEST(RunOptions, ScalesOfPowerAndCostsReachTheRun) {
  RunOptions options;
  options.costs = "paper";
  options.cost_scale = 10;
  options.power_scale = .5;
  const auto setup = read_setup(options);
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ((*setup)->settings.engine.costs.deadline_cut_us, 40 * kSecondUs);
  EXPECT_DOUBLE_EQ((*setup)->fleet.board(7).power.busy_w[0], 20);
  EXPECT_EQ(describe_fleet(options, (*setup)->fleet), "8xA100-40GB at 0.5 times the power");
  options.power_scale = 0;
  EXPECT_EQ(read_setup(options).error().message,
            "--power-scale: found 0, expected a number above 0, at most 1000");
}

TEST(RunOptions, SpeedFactorsAndTheTraceBoardMustMeanSomething) {
  RunOptions options;
  options.fleet = "2xH100-80GB";
  const auto with = [&](std::vector<std::string> factors, std::string board = "") {
    options.speed_factors = std::move(factors);
    options.trace_board = std::move(board);
    return setting_of(options);
  };
  EXPECT_EQ(with({"H100-80GB=2.5"}), "free free");
  EXPECT_EQ(with({"H100-80GB"}),
            "--speed-factor: found 'H100-80GB', expected BOARD=X, X a number from 0.001 to 1000");
  EXPECT_EQ(with({"H100-80GB=0"}),
            "--speed-factor: found 'H100-80GB=0', expected BOARD=X, X a number from 0.001 to 1000");
  EXPECT_EQ(with({"H100-80GB=2", "h100-80gb=3"}),
            "--speed-factor: H100-80GB is given twice, expected one factor for each board");
  EXPECT_EQ(with({"A30=2"}),
            "--speed-factor: found 'A30', expected a board of the fleet 2xH100-80GB");
  EXPECT_EQ(with({"H999=2"}).substr(0, 16), "--speed-factor: ");
  EXPECT_EQ(with({}, "H200"),
            "--trace-board: is for --jobs; the generator's times are for an A100-40GB");
  options.workload.jobs = "jobs.csv";
  EXPECT_EQ(with({}, "H200"), "real checkpoint");
  EXPECT_EQ(with({}, "H999").substr(0, 15), "--trace-board: ");
}

}  // namespace
}  // namespace smartmig
