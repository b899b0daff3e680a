#include "study/sweep.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

std::string axis_error(std::string_view text) {
  const auto axis = parse_sweep_axis(text);
  return axis ? "" : axis.error().message;
}

TEST(Sweep, AnAxisIsAListInWhichRangesStandForWholeNumbers) {
  const auto axis = parse_sweep_axis("gpus=2,4..6,10");
  ASSERT_TRUE(axis) << axis.error().message;
  EXPECT_EQ(axis->key, "gpus");
  EXPECT_EQ(axis->values, (std::vector<std::string>{"2", "4", "5", "6", "10"}));
  EXPECT_EQ(parse_sweep_axis("deadlines=1:1.5,2:4@1g")->values,
            (std::vector<std::string>{"1:1.5", "2:4@1g"}));
}

TEST(Sweep, RefusesAxesThatAreNone) {
  for (const char* text : {"", "gpus", "gpus=", "=4"}) EXPECT_NE(axis_error(text), "") << text;
  for (const char* text : {"gpus=4..", "gpus=5..4", "gpus=1..100000", "gpus=a..b", "gpus=1.5..3"})
    EXPECT_NE(axis_error(text).find("expected A..B"), std::string::npos) << text;
  EXPECT_EQ(axis_error("rate=4,3..5"), "--sweep: rate has '4' twice");
}

TEST(Sweep, ATargetIsAQuantityAndANumber) {
  const auto target = parse_sweep_target("late_pct=5");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(kQuantities[target->quantity].key, "late_pct");
  EXPECT_EQ(target->at_most, 5);
  EXPECT_EQ(parse_sweep_target("late=5").error().message.find("--target: found 'late=5'"), 0u);
  EXPECT_EQ(parse_sweep_target("late_pct=five").error().message,
            "--target: found 'late_pct=five', expected a number after 'late_pct='");
  EXPECT_FALSE(parse_sweep_target("late_pct"));
}

// A sweep of gpus 1, 2, 3 and rate 4, 8 with one policy; late jobs, energy and tardiness by point.
struct Numbers {
  double late_pct, energy_j, avg_tardiness_s;
};
Sweep made_sweep(const std::vector<Numbers>& numbers) {
  Sweep sweep;
  sweep.axes = {*parse_sweep_axis("gpus=1..3"), *parse_sweep_axis("rate=4,8")};
  const auto values = grid(sweep.axes);
  for (std::size_t p = 0; p < values.size(); ++p) {
    SweepPoint& point = sweep.points.emplace_back();
    point.values = values[p];
    point.jobs = 90;
    point.comparison.days = 1;
    PolicyResult& result = point.comparison.policies.emplace_back();
    const auto set = [&](double Metrics::*of, double value) {
      for (std::size_t q = 0; q < kQuantities.size(); ++q) {
        if (kQuantities[q].of == of) result.estimates[q].mean = value;
      }
    };
    set(&Metrics::late_pct, numbers[p].late_pct);
    set(&Metrics::energy_j, numbers[p].energy_j);
    set(&Metrics::avg_tardiness_s, numbers[p].avg_tardiness_s);
  }
  return sweep;
}
Sweep usual() {
  return made_sweep({{20, 1, 9}, {50, 1, 99}, {4, 2, 1}, {30, 2, 50}, {6, 9, 0}, {10, 9, 1}});
}

TEST(Sweep, LinesFollowOneAxis) {
  const Sweep sweep = usual();
  EXPECT_EQ(sweep.points[3].values, (std::vector<std::string>{"2", "8"}));
  EXPECT_EQ(lines_along(sweep, 0), (std::vector<SweepLine>{{0, 2, 4}, {1, 3, 5}}));
  EXPECT_EQ(lines_along(sweep, 1), (std::vector<SweepLine>{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(Sweep, TheAnswerIsTheFirstPointThatMeetsTheTarget) {
  const Sweep sweep = usual();
  const SweepTarget target = *parse_sweep_target("late_pct=5");
  const SweepAnswer met = answer(sweep, {0, 2, 4}, 0, target);
  EXPECT_TRUE(met.met);
  EXPECT_EQ(met.point, 2u);
  EXPECT_EQ(met.missed_after, 1u);  // Three GPUs have 6 % late.
  const SweepAnswer missed = answer(sweep, {1, 3, 5}, 0, target);
  EXPECT_FALSE(missed.met);
  EXPECT_EQ(missed.point, 5u);
}

TEST(Sweep, JobsThatFitNoSliceAreLate) {
  Sweep sweep = usual();
  sweep.points[2].unfit = 10;  // Of 100; 4 % of the other 90 are late.
  EXPECT_DOUBLE_EQ(sweep.points[2].late_pct(4), 10 + .9 * 4);
  EXPECT_FALSE(answer(sweep, {0, 2, 4}, 0, *parse_sweep_target("late_pct=5")).met);
  // Other quantities are of those that ran.
  EXPECT_TRUE(answer(sweep, {0, 2, 4}, 0, *parse_sweep_target("avg_tardiness_s=1")).met);
}

TEST(Sweep, ThePartsOfTheLateJobsAddUp) {
  Sweep sweep = usual();
  SweepPoint& point = sweep.points[2];
  point.unfit = 10;  // Of 100.
  point.late_at_once_pct = 1;
  const LateParts parts = late_parts(point, 0);
  EXPECT_DOUBLE_EQ(parts.unfit_pct, 10);
  EXPECT_DOUBLE_EQ(parts.short_deadline_pct, .9);
  EXPECT_DOUBLE_EQ(parts.waiting_pct, .9 * 3);
}

TEST(Sweep, KneesAreOfEnergyAgainstTardiness) {
  const Sweep sweep = usual();
  EXPECT_EQ(knee_of(sweep, {0, 2, 4}, 0), 2u);
  EXPECT_EQ(knee_of(sweep, {0, 1}, 0), std::nullopt);
}

}  // namespace
}  // namespace smartmig
