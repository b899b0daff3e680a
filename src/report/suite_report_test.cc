#include "report/suite_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

SuiteRow row_of_suite() {
  SuiteRow row;
  row.setting.fleet = "2xA100-40GB";
  row.setting.costs = "real";
  row.setting.seed = 3;
  row.setting.number = 7;
  row.policy = "smartmig";
  row.et = 1.25;
  row.draws = 200;
  row.at_limit = true;
  row.chosen_on_even = "none/edf";
  row.chosen_on_odd = "count/met";
  row.ratio = {.95, .9, 1};
  row.in_hindsight = "count/met";
  row.hindsight_ratio = {.97, .92, 1.02};
  row.worst_wait_s = 7200;
  row.bound_et = 1;
  row.et_on_bound_days = 1.2;
  return row;
}

TEST(SuiteReport, HasTheKeysOfTheFormat) {
  const auto json = to_json(std::vector<SuiteRow>{row_of_suite()});
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["setting"], "3-7");
  EXPECT_EQ(json[0]["policy"], "smartmig");
  EXPECT_EQ(json[0]["best_simple"], "none/edf | count/met");
  EXPECT_EQ(json[0]["et"], 1.25);
  EXPECT_EQ(json[0]["ratio"]["mean"], .95);
  EXPECT_EQ(json[0]["ratio"]["low95"], .9);
  EXPECT_EQ(json[0]["ratio"]["high95"], 1);
  EXPECT_EQ(json[0]["best_in_hindsight"], "count/met");
  EXPECT_EQ(json[0]["draws"], 200);
  EXPECT_EQ(json[0]["bound_et"], 1);
  EXPECT_EQ(json[0]["stopped_at_limit"], true);
  EXPECT_EQ(json[0]["details"]["fleet"], "2xA100-40GB");
}

TEST(SuiteReport, SaysWhichRowsStoppedAtTheLimit) {
  SuiteRow row = row_of_suite();
  EXPECT_NE(to_text(std::vector<SuiteRow>{row}).find("200*"), std::string::npos);
  EXPECT_NE(to_text(std::vector<SuiteRow>{row}).find("still too wide"), std::string::npos);
  row.at_limit = false;
  EXPECT_EQ(to_text(std::vector<SuiteRow>{row}).find('*'), std::string::npos);
}

TEST(SuiteReport, HasNoNumbersForAPolicyThatDidNotRunAllJobs) {
  SuiteRow row = row_of_suite();
  row.error = "job 7 can never run";
  EXPECT_TRUE(to_json(std::vector<SuiteRow>{row})[0]["ratio"].is_null());
  EXPECT_EQ(to_json(std::vector<SuiteRow>{row})[0]["error"], "job 7 can never run");
  EXPECT_NE(to_text(std::vector<SuiteRow>{row}).find("3-7, smartmig: job 7 can never run."),
            std::string::npos);
}

TEST(SuiteReport, EscapesTheBarsOfAMarkdownTable) {
  const std::string page = suite_markdown({row_of_suite()});
  EXPECT_NE(page.find("none/edf \\| count/met"), std::string::npos);
  EXPECT_NE(page.find("| 3-7 | 2xA100-40GB, costs real"), std::string::npos);
  EXPECT_NE(page.find("+20.0"), std::string::npos) << "above the bound of the same days";
}

}  // namespace
}  // namespace smartmig
