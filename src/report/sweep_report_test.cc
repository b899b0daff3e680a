#include "report/sweep_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/sweep_page.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

// Real comparisons of two policies on one to three GPUs.
const Sweep& small_sweep() {
  static const Sweep sweep = [] {
    Sweep made;
    made.axes = {*parse_sweep_axis("gpus=1..3")};
    for (const auto& values : grid(made.axes)) {
      const Fleet fleet = *Fleet::parse(values[0] + "xA100-40GB");
      RunSettings settings;
      settings.fleet = &fleet;
      const auto day = [](std::size_t number) -> Result<DayTable> {
        GeneratorOptions options;
        options.rate = 2;
        options.day = number;
        return std::make_shared<const JobTable>(generate(options));
      };
      const std::vector<std::string> specs = {"none/edf", "count/cedf"};
      const auto policies = *make_policies(settings, specs);
      SweepPoint& point = made.points.emplace_back();
      point.values = values;
      point.comparison = *compare(settings, policies, 2, day, 1);
      point.jobs = 800;
      point.unfit = 200;
    }
    return made;
  }();
  return sweep;
}
const SweepTarget kTarget = *parse_sweep_target("late_pct=30");

TEST(SweepReport, JsonHasAnObjectForEachPointAndPolicy) {
  const auto json = to_json(small_sweep(), kTarget);
  ASSERT_EQ(json.size(), 6u);
  EXPECT_EQ(json[2]["point"]["gpus"], 2);
  EXPECT_EQ(json[2]["policy"], "none/edf");
  EXPECT_EQ(json[3]["policy"], "count/cedf");
  EXPECT_EQ(json[0]["unfit_jobs"], 200);
  const double late = json[0]["late_pct"]["mean"];
  EXPECT_DOUBLE_EQ(json[0]["late_pct_with_unfit"], .8 * late + 20);
  int answers = 0;
  int knees = 0;
  for (const auto& object : json) {
    answers += object["answer"].get<bool>();
    knees += object["knee"].get<bool>();
    EXPECT_EQ(object["meets_target"].get<bool>(), object["late_pct_with_unfit"] <= 30);
  }
  EXPECT_LE(answers, 2);
  EXPECT_LE(knees, 2);
  EXPECT_FALSE(to_json(small_sweep(), std::nullopt)[0].contains("answer"));
}

TEST(SweepReport, TheAnswerOfTheTextIsThatOfTheJson) {
  const auto json = to_json(small_sweep(), kTarget);
  const std::string text = to_text(small_sweep(), kTarget);
  for (const auto& object : json) {
    if (!object["answer"].get<bool>()) continue;
    const int gpus = object["point"]["gpus"];
    const std::string begin = fmt::format(
        "{}: {} GPU{} for at most 30 % late jobs: {:.4g} % late jobs, at {:.4g} kWh a day",
        object["policy"].get<std::string>(), gpus, gpus == 1 ? "" : "s",
        object["late_pct_with_unfit"].get<double>(),
        object["energy_j"]["mean"].get<double>() / 3.6e6);
    EXPECT_NE(text.find(begin), std::string::npos) << begin << "\n" << text;
  }
  EXPECT_NE(text.find("200 of 1000 jobs fit no slice"), std::string::npos);
  const std::string never = to_text(small_sweep(), *parse_sweep_target("late_pct=1"));
  EXPECT_NE(never.find("none/edf: no size tried has at most 1 % late jobs; the closest is "),
            std::string::npos);
}

TEST(SweepReport, CsvHasAColumnForEachKey) {
  const auto files = sweep_files(small_sweep(), std::nullopt);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "sweep.csv");
  EXPECT_EQ(files[0].bytes.find("gpus,policy,days,jobs,unfit_jobs,late_pct_with_unfit,length_s,et_"
                                "mean,et_low95,et_high95"),
            0u);
  EXPECT_NE(files[0].bytes.find("\n3,\"count/cedf\",2,800,200,"), std::string::npos);
}

TEST(SweepReport, ThePageHasTheCurvesTheAnswerAndTheSameNumbers) {
  ReportContext context;
  context.origin = {"smartmig compare --sweep gpus=1..3", "9.9"};
  context.assumptions = {{"deadlines", "2 to 6 times the run", "--deadlines"}};
  const std::string html = sweep_page(small_sweep(), kTarget, context);
  EXPECT_NE(html.find(">2 to 6 times the run<"), std::string::npos);
  for (const std::string& sentence : answer_texts(small_sweep(), kTarget))
    EXPECT_NE(html.find(sentence), std::string::npos) << sentence;
  for (const char* piece : {"Energy by gpus", "Late jobs by gpus", ">target<", ">knee<"})
    EXPECT_NE(html.find(piece), std::string::npos) << piece;
  EXPECT_NE(html.find("id=\"result\""), std::string::npos);
}

TEST(SweepReport, TheDecisionNamesTheBestPolicyAndNotTheFirst) {
  Sweep sweep = small_sweep();
  // The second meets the target with one GPU, the first with none.
  const std::size_t late = 4;
  ASSERT_EQ(kQuantities[late].key, "late_pct");
  for (SweepPoint& point : sweep.points) {
    point.unfit = 0;
    point.comparison.priced = true;
    point.comparison.currency = "EUR";
    point.comparison.policies[0].estimates[late].mean = 50;
    point.comparison.policies[1].estimates[late].mean = 2;
    point.late_at_once_pct = 10;
  }
  const auto decisions = decision_texts(sweep, kTarget, "`");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].find("Best is `count/cedf`: 1 GPU for at most 30 % late jobs: 2 % late "
                              "jobs, at "),
            0u)
      << decisions[0];
  EXPECT_NE(decisions[0].find(" EUR"), std::string::npos);
  EXPECT_NE(decisions[0].find("Next is `none/edf`: no size tried has at most 30 % late jobs; the "
                              "closest is 1 GPU: 50 % late jobs"),
            std::string::npos)
      << decisions[0];
  const std::string missed = answer_texts(sweep, kTarget)[0];
  EXPECT_NE(missed.find("0.00 fit no slice or ask for several GPUs, 10.00 have a deadline "
                        "shorter than any run, 40.00 waited or ran on too slow a slice"),
            std::string::npos)
      << missed;
  const auto json = to_json(sweep, kTarget);
  EXPECT_DOUBLE_EQ(json[0]["late_by"]["short_deadline_pct"], 10);
  EXPECT_DOUBLE_EQ(json[0]["late_by"]["waiting_pct"], 40);
  EXPECT_EQ(decision_texts(sweep, std::nullopt)[0].find("Of 2 policies, "), 0u);
}

}  // namespace
}  // namespace smartmig
