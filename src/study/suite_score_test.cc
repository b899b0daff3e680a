#include "study/suite_score.h"

#include <gtest/gtest.h>

#include <limits>

namespace smartmig {
namespace {

using Days = std::vector<double>;

TEST(SuiteScore, ChoosesOnOneHalfAndScoresOnTheOther) {
  // On even days the first is better, on odd ones the second; each is scored where it was not
  // chosen.
  const std::vector<Days> simple = {{1, 5, 1, 5}, {3, 2, 3, 2}};
  const Days policy = {2, 2, 2, 2};
  const SuiteScore found = score(policy, simple, 1);
  EXPECT_EQ(found.chosen[0], 0u);
  EXPECT_EQ(found.chosen[1], 1u);
  // Even days against the second: 3, 3; odd days against the first: 5, 5.
  EXPECT_NEAR(found.ratio.mean, 8.0 / 16, 1e-12);
  // In hindsight the second: 10 against 12.
  EXPECT_EQ(found.in_hindsight, 1u);
  EXPECT_NEAR(found.hindsight_ratio.mean, 8.0 / 10, 1e-12);
}

TEST(SuiteScore, HasAPairedInterval) {
  // The policy is always a tenth better, whatever the day: nothing is left to chance.
  const std::vector<Days> simple = {{1, 10, 100, 1000}};
  const SuiteScore found = score(Days{.9, 9, 90, 900}, simple, 1);
  EXPECT_NEAR(found.ratio.mean, .9, 1e-12);
  EXPECT_NEAR(*found.ratio.low95, .9, 1e-12);
  EXPECT_NEAR(*found.ratio.high95, .9, 1e-12);
  EXPECT_NEAR(*found.ratio.half_width_pct(), 0, 1e-9);
}

TEST(SuiteScore, MeasuresTheWidthInPercentOfTheRatio) {
  const Ratio ratio = {2, 1.9, 2.1};
  EXPECT_NEAR(*ratio.half_width_pct(), 5, 1e-12);
  EXPECT_FALSE((Ratio{2, std::nullopt, std::nullopt}).half_width_pct());
}

TEST(SuiteScore, KeepsInTheRaceWhatIsNearTheBestOfEitherHalf) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::vector<Days> simple = {
      {1, 1, 1, 1},            // The best.
      {1.19, 9, 1.19, 9},      // Near it on even days.
      {9, 1.19, 9, 1.19},      // Near it on odd days.
      {1.3, 1.3, 1.3, 1.3},    // On neither.
      {1, kNever, 1, kNever},  // Runs not all jobs.
  };
  EXPECT_EQ(still_racing(simple, 1.2), (std::vector<std::size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace smartmig
