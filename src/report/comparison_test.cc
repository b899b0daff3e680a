#include "report/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "report/job_balance.h"

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
  comparison.ranking.order = {1, 0};
  comparison.ranking.best_vs_next = comparison.policies[1].et_vs_first;
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

TEST(ComparisonReport, EndsWithTheBestPolicyAndItsMargins) {
  Comparison comparison = two_policies(2);
  EXPECT_EQ(best_text(comparison),
            "Best is static:7,4-3*7/cedf with ET 0.1 [-1, 99]: 12.3 % [-5.0, 20.0] below the next "
            "and first, none/edf; the interval of the margin includes 0, so these days do not tell "
            "the two apart.");
  EXPECT_EQ(best_text(two_policies(1), "`"),
            "Best is `static:7,4-3*7/cedf` with ET 0.1: 12.3 % below the next and first, "
            "`none/edf`; a single run does not say how much of it is chance.");
  PolicyResult third = comparison.policies[1];
  third.policy = "count/cedf";
  third.et_vs_first = {-20., -25., -15.};
  comparison.policies.push_back(third);
  comparison.ranking = {{2, 1, 0}, {-4., -6., -2.}};
  EXPECT_EQ(best_text(comparison),
            "Best is count/cedf with ET 0.1 [-1, 99]: 4.0 % [2.0, 6.0] below the next, "
            "static:7,4-3*7/cedf, and 20.0 % [15.0, 25.0] below the first, none/edf.");
  comparison.ranking = {{0, 1, 2}, {-4., -6., -2.}};
  EXPECT_EQ(best_text(comparison),
            "Best is none/edf (the first) with ET 0.1 [-1, 99]: 4.0 % [2.0, 6.0] below the next, "
            "static:7,4-3*7/cedf.");
  const auto json = to_json(comparison);
  EXPECT_EQ(json[0]["rank"], 1);
  EXPECT_EQ(json[2]["rank"], 3);
  EXPECT_EQ(json[0]["vs_next"]["policy"], "static:7,4-3*7/cedf");
  EXPECT_EQ(json[0]["vs_next"]["within_interval"], false);
  EXPECT_FALSE(json[1].contains("vs_next"));
  comparison.policies.resize(1);
  comparison.ranking = {{0}, {}};
  EXPECT_EQ(best_text(comparison), "");
}

TEST(ComparisonReport, TellsProgramsWhatTheResultsRestOn) {
  Comparison comparison = two_policies(1);
  EXPECT_FALSE(to_json(comparison)[0].contains("assumptions"));
  comparison.assumptions = {{"deadlines", "the trace's own", "--deadlines"},
                            {"memory", "every job fits every slice", ""}};
  for (const auto& object : to_json(comparison)) {
    EXPECT_EQ(object["assumptions"].dump(),
              R"({"deadlines":"the trace's own","memory":"every job fits every slice"})");
  }
}

TEST(ComparisonReport, SaysWhatOfAFileIsLeftOut) {
  Comparison comparison = two_policies(1);
  JobBalance balance;
  balance.kept = {6, 6, 10};
  balance.dropped.add(LossReason::kSeveralGpus, {3, 3, 85});
  balance.dropped.add(LossReason::kNoRunTime, {1, 1, 0});
  balance.unfit.add(LossReason::kNoMemory, {2, 2, 5});
  comparison.balance = balance;
  for (const auto& object : to_json(comparison)) {
    EXPECT_EQ(object["kept"].dump(), R"({"rows":6,"jobs":6,"gpu_hours":10.0,"by_reason":{}})");
    EXPECT_EQ(object["dropped"]["rows"], 4);
    EXPECT_EQ(object["dropped"]["gpu_hours"], 85.0);
    EXPECT_EQ(object["dropped"]["by_reason"]["asks for several GPUs"].dump(),
              R"({"rows":3,"jobs":3,"gpu_hours":85.0,"option":"--multi-gpu split or one"})");
    EXPECT_EQ(object["unfit"]["jobs"], 2);
  }
  EXPECT_EQ(balance_text(balance),
            "Kept: 6 of 12 rows: 6 jobs, 10 GPU-hours (10.0 %).\n"
            "Dropped: 4 rows, 85 GPU-hours (85.0 %): asks for several GPUs 3 (85 GPU-hours; "
            "--multi-gpu split or one changes this), no run time 1.\n"
            "Unfit: 2 jobs, 5 GPU-hours (5.0 %): needs more memory than any slice of the fleet "
            "has 2 (5 GPU-hours; --memory none or another --fleet changes this); these jobs do not "
            "run and are in no other number.\n");
  EXPECT_EQ(balance_text({{1, 1, 18900}, {}, {}}),
            "Kept: 1 of 1 row: 1 job, 18900 GPU-hours (100.0 %).\n");
}

TEST(ComparisonReport, ShowsHowATraceReallyWent) {
  Comparison comparison = two_policies(1);
  comparison.as_it_was = AsItWas{5, 180, 60, 600, 30, 12.5};
  const std::string text = to_text(comparison, 2e-7);
  EXPECT_NE(text.find("\nas it was"), std::string::npos);
  EXPECT_NE(text.find("5 jobs really waited 3 min (median 1 min, 95 % 10 min); against these "
                      "deadlines 12.50 % were late"),
            std::string::npos)
      << text;
  EXPECT_EQ(to_json(comparison)[1]["as_it_was"]["avg_wait_s"], 180.0);
}

}  // namespace
}  // namespace smartmig
