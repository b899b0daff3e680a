#include "study/reproduce.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "study/reproduce_values.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

ReproducedRow row(double theirs, double error, double ours, std::optional<double> low,
                  std::optional<double> high) {
  ReproducedRow made;
  made.theirs = theirs;
  made.error = error;
  made.ours = ours;
  made.low95 = low;
  made.high95 = high;
  return made;
}

TEST(Reproduce, TheirsAgreesInOurIntervalWidenedByTheReadingError) {
  EXPECT_EQ(judge(row(5, 0, 4, 3, 5)), Verdict::kAgrees);
  EXPECT_EQ(judge(row(5.1, 0, 4, 3, 5)), Verdict::kDiffers);
  EXPECT_EQ(judge(row(5.1, .1, 4, 3, 5)), Verdict::kAgrees);
  EXPECT_EQ(judge(row(2.8, .1, 4, 3, 5)), Verdict::kDiffers);
  EXPECT_EQ(judge(row(12, 0, 12, {}, {})), Verdict::kAgrees);
  EXPECT_EQ(judge(row(12, 0, 13, {}, {})), Verdict::kDiffers);
  EXPECT_EQ(judge(ReproducedRow()), Verdict::kNotStated);
}

std::string item(const std::string& runs, const std::string& rest = "") {
  return fmt::format(
      R"({{"about": "a", "items": [{{"name": "n", "title": "t", "source": "s", "text": "x", "runs": [{}]{}}}]}})",
      runs, rest);
}

TEST(Reproduce, RefusesPublishedDataThatIsWrongAndSaysWhere) {
  const auto error = [](const std::string& text) {
    const auto items = parse_published(text, "p.json");
    return items ? "" : items.error().message;
  };
  EXPECT_EQ(error(item(R"({"rows": [{"what": "w", "unit": "u"}]})")),
            "p.json: items[0].runs[0].rows[0].of: is missing, expected a text of one line");
  EXPECT_NE(error(item(R"({"kind": "guess", "rows": []})")).find("items[0].runs[0].kind"),
            std::string::npos);
  EXPECT_EQ(error(item(R"({"rows": [], "policies": []})")),
            "p.json: items[0].runs[0]: unknown field 'policies'; known: kind, about, args, days, "
            "quick_days, why, rows");
}

// A comparison with two policies on three days, ET 1, 2, 3 and 3, 2, 4.
Comparison two_policies() {
  Comparison comparison;
  comparison.days = 3;
  for (const std::vector<double>& ets : {std::vector<double>{1, 2, 3}, {3, 2, 4}}) {
    PolicyResult& result = comparison.policies.emplace_back();
    result.policy = comparison.policies.size() == 1 ? "a" : "b";
    for (const double et : ets) {
      Metrics day;
      day.et = et;
      day.layouts_pct = {{"7", 60}, {"4-2-1", 40}};
      result.days.push_back(day);
    }
    result.estimates[0] = estimate(ets, 1);
  }
  return comparison;
}

double value(const std::string& of, bool median = false, std::size_t policy = 0) {
  PublishedRow asked;
  asked.of = of;
  asked.median = median;
  asked.policy = policy;
  const auto found = value_of(two_policies(), asked, 1);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->value : 0;
}

TEST(Reproduce, ReadsValuesOfAComparison) {
  EXPECT_EQ(value("et"), 2);
  EXPECT_EQ(value("et", false, 1), 3);
  EXPECT_EQ(value("et", true, 1), 3);
  EXPECT_EQ(value("layouts:4-2-1"), 40);
  EXPECT_EQ(value("layouts:4-2-1+7+3-3"), 100);
  EXPECT_DOUBLE_EQ(value("slices_per_gpu"), .6 * 1 + .4 * 3);
  PublishedRow unknown;
  for (const char* of : {"", "speed", "energy_above_published_pct", "energy_bound_wmin"}) {
    unknown.of = of;
    EXPECT_FALSE(value_of(two_policies(), unknown, 1)) << of;
  }
}

TEST(Reproduce, RunsTheWordsWithItsDaysAndJudges) {
  const auto items = parse_published(
      item(
          R"({"about": "x2", "args": "--policy static:7*2/edf", "days": 9, "quick_days": 3, "why": "w",
               "rows": [{"what": "ET", "unit": "ET", "theirs": 2, "of": "et"},
                        {"what": "ET", "unit": "ET", "theirs": 9, "of": "et", "policy": 1}]})"),
      "p.json");
  ASSERT_TRUE(items) << items.error().message;
  std::vector<std::string> asked;
  const auto compare = [&](const std::string& words) -> Result<Comparison> {
    asked.push_back(words);
    return two_policies();
  };
  const auto made = reproduce(items->front(), true, compare);
  ASSERT_TRUE(made) << made.error().message;
  const auto* rows = &made->rows;
  EXPECT_EQ(asked, std::vector<std::string>{"--policy static:7*2/edf --days 3"});
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].what, "x2: ET");
  EXPECT_EQ((*rows)[0].command, "smartmig compare --policy 'static:7*2/edf' --days 3");
  EXPECT_EQ((*rows)[0].verdict, Verdict::kAgrees);
  EXPECT_EQ((*rows)[0].note, "");
  EXPECT_EQ((*rows)[1].verdict, Verdict::kDiffers);
  EXPECT_EQ((*rows)[1].note, "w");
  ASSERT_TRUE(reproduce(items->front(), false, compare));
  EXPECT_EQ(asked.back(), "--policy static:7*2/edf --days 9");
}

TEST(Reproduce, SaysWhereTheOrderOfPoliciesChanges) {
  const std::string run = R"({"about": "s", "args": "x", "rows": []})";
  const auto items = parse_published(item(run + "," + run, R"(, "ranking": true)"), "p.json");
  ASSERT_TRUE(items) << items.error().message;
  int calls = 0;
  const auto made = reproduce(items->front(), true, [&](const std::string&) -> Result<Comparison> {
    Comparison comparison = two_policies();
    // The second time b is before a.
    if (++calls == 2) std::swap(comparison.policies[0].estimates, comparison.policies[1].estimates);
    if (calls == 2) std::swap(comparison.policies[0].days, comparison.policies[1].days);
    return comparison;
  });
  ASSERT_TRUE(made);
  ASSERT_EQ(made->rows.size(), 1u);
  EXPECT_EQ(made->rows[0].ours, 1);
  EXPECT_EQ(made->rows[0].note, "b is now before a (perhaps by chance)");
}

TEST(Reproduce, EveryShippedRowAsksForSomethingThatItsRunHas) {
  // Comparisons of one short day with everything on stand in for the runs.
  const Fleet fleet = *Fleet::parse("8xA100-40GB");
  RunSettings settings;
  settings.fleet = &fleet;
  settings.engine.layout_times = true;
  GeneratorOptions options;
  options.fixed_rate = true;
  options.count = 8;
  const auto day = [&](std::size_t) -> Result<DayTable> {
    return std::make_shared<const JobTable>(generate(options));
  };
  const std::vector<std::string> specs(7, "count/cedf");
  auto comparison = compare(settings, *make_policies(settings, specs), 2, day, 1);
  ASSERT_TRUE(comparison);
  add_bounds(*comparison, *bound_days(settings, 2, day, 1), 1);
  add_energy_bounds(*comparison, *published_energy_bounds(settings, 2, day, 1), 1);
  std::vector<std::string> names;
  for (const PublishedItem& published : published_items()) {
    names.push_back(published.name);
    const auto rows = reproduce(published, true, [&](const std::string& words) {
      // Words that bound or count layouts say so, and rows need no more policies than there are.
      Comparison had = *comparison;
      std::size_t named = 0;
      for (const std::string_view word : split(words, ' ')) named += word == "--policy";
      had.policies.resize(named);
      if (words.find("--bound") == std::string::npos) had.bounds.clear();
      if (words.find("--energy-bound") == std::string::npos) had.energy_bounds_j.clear();
      return Result<Comparison>(had);
    });
    EXPECT_TRUE(rows) << rows.error().message;
  }
  EXPECT_EQ(names.size(), 16u);
}

}  // namespace
}  // namespace smartmig
