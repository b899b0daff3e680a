#include "report/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/csv.h"

namespace smartmig {
namespace {

Comparison two_policies(std::size_t days) {
  Comparison comparison;
  comparison.days = days;
  for (const char* policy : {"none/edf", "static:7,4-3*7/cedf"}) {
    PolicyResult result;
    result.policy = policy;
    result.days.resize(days);
    for (std::size_t q = 0; q < result.estimates.size(); ++q) {
      Estimate& estimate = result.estimates[q];
      estimate.mean = static_cast<double>(q) + 0.1;
      estimate.median = static_cast<double>(q);
      if (days > 1) estimate.low95 = -1, estimate.high95 = 99;
    }
    result.et_vs_first.mean = policy[0] == 'n' ? 0 : -12.345;
    if (days > 1) result.et_vs_first.low95 = -20, result.et_vs_first.high95 = 5;
    comparison.policies.push_back(result);
  }
  return comparison;
}

TEST(ComparisonReport, JsonHasTheDocumentedKeysInOrder) {
  const auto json = to_json(two_policies(2));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["policy"], "none/edf");
  EXPECT_EQ(json[1]["days"], 2);
  std::size_t q = 0;
  for (const char* key : {"et", "energy_j", "energy_wmin", "avg_tardiness_s", "late_pct"}) {
    EXPECT_EQ(json[1][key].dump(),
              fmt::format(R"({{"mean":{}.1,"median":{}.0,"low95":-1.0,"high95":99.0}})", q, q));
    ++q;
  }
  EXPECT_EQ(json[1]["vs_first"].dump(), R"({"et_pct":{"mean":-12.345,"low95":-20.0,"high95":5.0},)"
                                        R"("late_pct":{"mean":null,"low95":null,"high95":null}})");
}

TEST(ComparisonReport, WithOneRunIntervalsAreNullAndTheTextSaysSo) {
  const auto json = to_json(two_policies(1));
  EXPECT_TRUE(json[0]["et"]["low95"].is_null());
  EXPECT_TRUE(json[1]["vs_first"]["et_pct"]["high95"].is_null());
  EXPECT_EQ(json[1]["vs_first"]["et_pct"]["mean"], -12.345);
  const std::string text = to_text(two_policies(1), 2e-7);
  EXPECT_NE(text.find("a single run has no interval"), std::string::npos);
  EXPECT_EQ(text.find('['), std::string::npos);
}

TEST(ComparisonReport, TextShowsTheChangeWithItsInterval) {
  const std::string text = to_text(two_policies(2), 2e-7);
  EXPECT_NE(text.find("-12.3 [-20.0, +5.0]"), std::string::npos) << text;
}

TEST(ComparisonReport, CsvFilesHaveAFieldForEveryColumn) {
  for (const std::size_t days : {1u, 3u}) {
    const auto files = comparison_files(two_policies(days));
    ASSERT_EQ(files.size(), 3u);
    for (const OutputFile& file : files) {
      if (!file.name.ends_with(".csv")) continue;
      auto csv = *CsvReader::open(file.bytes, file.name);
      std::size_t rows = 0;
      while (csv.next()) ++rows;
      EXPECT_FALSE(csv.error()) << csv.error()->message;
      EXPECT_EQ(rows, file.name == "days.csv" ? 2 * days : 2);
    }
  }
}

}  // namespace
}  // namespace smartmig
