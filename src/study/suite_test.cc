#include "study/suite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "study/compare.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// Two GPUs and some dozens of jobs a day.
SuiteSetting small_setting() {
  SuiteSetting setting;
  setting.fleet = "2xA100-40GB";
  setting.costs = "real";
  setting.preemption = Preemption::kCheckpoint;
  setting.energy_weight = 2e-7;
  DescribedWorkload workload;
  workload.sizes.mean_s = 600;
  workload.rate = .6;
  workload.max_jobs = 60;
  setting.jobs = workload;
  return setting;
}

SuiteOptions small_options() {
  SuiteOptions options;
  options.policies = {"count/edf", "smartmig"};
  options.min_days = 6;
  options.max_days = 10;
  options.search = {2, 100, 1};
  options.bound_days = 1;
  options.threads = 1;
  return options;
}

class SuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("smartmig-suite-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(SuiteTest, HoldsAPolicyAgainstTheBestSimpleOne) {
  const auto rows = run_suite_setting(small_setting(), nullptr, small_options(), {});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  const SuiteRow& simple = rows->front();
  EXPECT_EQ(simple.policy, "count/edf");
  EXPECT_GE(simple.hindsight_ratio.mean, 1) << "none of them beats the best of them in hindsight";
  EXPECT_GE(simple.draws, 6u);
  EXPECT_LE(simple.draws, 10u);
  ASSERT_TRUE(simple.bound_et);
  for (const SuiteRow& row : *rows) {
    EXPECT_GE(*row.et_on_bound_days, *row.bound_et);
    EXPECT_GE(row.worst_wait_s, row.p99_wait_s);
  }
}

TEST_F(SuiteTest, ScoresTheDaysThatCompareRuns) {
  const SuiteSetting setting = small_setting();
  const auto world = SuiteWorld::make(setting, nullptr);
  const SuiteCache none;
  SuiteRuns runs(**world, none, {}, 1);
  const std::vector<std::string> specs = {"none/edf"};
  ASSERT_TRUE(runs.extend(specs, 2));
  ASSERT_TRUE(runs.extend(specs, 3)) << "in two steps as in one";
  const auto policies = make_policies((*world)->settings(), specs);
  const auto compared = compare((*world)->settings(), *policies, 3,
                                [&](std::size_t day) { return (*world)->day(day); }, 1);
  ASSERT_TRUE(compared);
  for (std::size_t day = 0; day < 3; ++day)
    EXPECT_EQ(runs.scores("none/edf")[day].et, compared->policies[0].days[day].et);
}

TEST_F(SuiteTest, FindsTheSameInTheCacheAndOnMoreThreads) {
  const SuiteCache cache(folder_.string(), "test");
  SuiteOptions options = small_options();
  const auto text = [](const Result<std::vector<SuiteRow>>& rows) {
    std::string all;
    for (const SuiteRow& row : *rows)
      all += fmt::format("{} {} {} {} {} {} {}\n", row.et, row.ratio.mean, *row.ratio.low95,
                         row.chosen_on_even, row.in_hindsight, row.worst_wait_s, *row.bound_et);
    return all;
  };
  const std::string first = text(run_suite_setting(small_setting(), nullptr, options, {}));
  EXPECT_EQ(text(run_suite_setting(small_setting(), nullptr, options, cache)), first);
  EXPECT_GT(std::distance(fs::directory_iterator(folder_), {}), 10);
  EXPECT_EQ(text(run_suite_setting(small_setting(), nullptr, options, cache)), first);
  options.threads = options.search.threads = 3;
  EXPECT_EQ(text(run_suite_setting(small_setting(), nullptr, options, {})), first);
}

TEST_F(SuiteTest, TrustsNoDamagedEntryOfTheCache) {
  const SuiteCache cache(folder_.string(), "test");
  const nlohmann::json entry = {1, 2};
  ASSERT_TRUE(cache.keep("setting", "policy", entry));
  EXPECT_EQ(cache.find("setting", "policy"), entry);
  EXPECT_TRUE(cache.find("setting", "another").is_null());
  EXPECT_TRUE(SuiteCache(folder_.string(), "other").find("setting", "policy").is_null());
  for (const auto& file : fs::directory_iterator(folder_)) fs::resize_file(file.path(), 3);
  EXPECT_TRUE(cache.find("setting", "policy").is_null());
}

TEST_F(SuiteTest, SaysWhyAPolicyDidNotRunAllJobs) {
  SuiteSetting setting = small_setting();
  std::get<DescribedWorkload>(setting.jobs).speeds = "large-only";
  SuiteOptions options = small_options();
  // No slice of 3g or more.
  options.policies = {"static:1-1-1-1-1-1-1*2/edf"};
  const auto rows = run_suite_setting(setting, nullptr, options, {});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_FALSE(rows->front().error.empty());
  EXPECT_EQ(summarise(*rows)[0].failed, 1u);
}

TEST(SuiteSummary, CountsWhatAReaderAsksFor) {
  std::vector<SuiteRow> rows(4);
  for (SuiteRow& row : rows) row.policy = "p";
  rows[0].ratio = {.5, .4, .6};
  rows[1].ratio = {1.02, 1, 1.04};
  rows[2].ratio = {1.2, 1.09, 1.3};
  rows[3].error = "a job never ran";
  const SuiteSummary summary = summarise(rows)[0];
  EXPECT_EQ(summary.settings, 3u);
  EXPECT_EQ(summary.failed, 1u);
  EXPECT_EQ(summary.within, 2u);
  EXPECT_EQ(summary.far_above, 1u);
  EXPECT_EQ(summary.worst, 1.2);
  EXPECT_NEAR(summary.geometric_mean, std::cbrt(.7 * 1.02 * 1.2), 1e-12);
}

}  // namespace
}  // namespace smartmig
