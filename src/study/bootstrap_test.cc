#include "study/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace smartmig {
namespace {

TEST(Bootstrap, ASingleDayHasNoInterval) {
  const std::vector<double> days = {7};
  const Estimate one = estimate(days, 1);
  EXPECT_EQ(one.mean, 7);
  EXPECT_EQ(one.median, 7);
  EXPECT_FALSE(one.low95 || one.high95);
  const Change change = estimate_change(days, days, 1);
  EXPECT_EQ(change.mean, 0);
  EXPECT_FALSE(change.low95 || change.high95);
}

TEST(Bootstrap, TwoDaysGiveTheIntervalWorkedOutByHand) {
  // Resamples of {0, 1} have the mean 0, .5 and 1 with probability 1/4, 1/2 and 1/4: the middle 95
  // % reach from 0 to 1.
  const Estimate two = estimate(std::vector<double>{0, 1}, 3);
  EXPECT_EQ(two.mean, 0.5);
  EXPECT_EQ(two.median, 0.5);
  EXPECT_EQ(*two.low95, 0);
  EXPECT_EQ(*two.high95, 1);
  // Six equal days and one of 7: the mean is 1 + 6 k/7, k binomial (7, 1/7). P(k = 0) = .340, P(k
  // <= 2) = .932 and P(k <= 3) = .988, so the interval is that of k = 0 and k = 3.
  const Estimate seven = estimate(std::vector<double>{1, 1, 1, 7, 1, 1, 1}, 3);
  EXPECT_NEAR(seven.mean, 13. / 7, 1e-12);
  EXPECT_EQ(seven.median, 1);
  EXPECT_NEAR(*seven.low95, 1, 1e-12);
  EXPECT_NEAR(*seven.high95, 25. / 7, 1e-12);
}

TEST(Bootstrap, IntervalsOfNormalDaysHoldTheTrueMeanAboutAsOftenAsTheySay) {
  // The percentile method is known to fall a little short for few days: about 93 to 94 % at 40.
  Random random(5, "coverage");
  int held = 0;
  constexpr int kTrials = 500;
  std::vector<double> days(40);
  for (int trial = 0; trial < kTrials; ++trial) {
    for (double& day : days) day = 10 + 3 * random.normal();
    const Estimate found = estimate(days, static_cast<std::uint64_t>(trial));
    held += *found.low95 <= 10 && 10 <= *found.high95;
    // The width is that of the normal interval, 2 x 1.96 standard errors.
    EXPECT_NEAR((*found.high95 - *found.low95) / (2 * 1.96 * 3 / std::sqrt(40.)), 1, 0.5);
  }
  EXPECT_GT(held, kTrials * 0.90);
  EXPECT_LT(held, kTrials * 0.97);
}

TEST(Bootstrap, AChangeIsPairedByDay) {
  // Twice the base on every day: whichever days are drawn, the change is +100 %.
  const std::vector<double> base = {1, 50, 3, 200, 7};
  std::vector<double> twice;
  for (const double day : base) twice.push_back(2 * day);
  const Change change = estimate_change(twice, base, 1);
  EXPECT_EQ(*change.mean, 100);
  EXPECT_EQ(*change.low95, 100);
  EXPECT_EQ(*change.high95, 100);
}

TEST(Bootstrap, AChangeIsTheRatioOfMeansAndNotTheMeanOfRatios) {
  // Means 11 and 110: -90 %. The ratios of the days are 2 and 20/218.
  const Change change = estimate_change(std::vector<double>{2, 20}, std::vector<double>{2, 218}, 1);
  EXPECT_NEAR(*change.mean, -90, 1e-12);
  EXPECT_NEAR(*change.low95, 100 * (20. / 218 - 1), 1e-9);
  EXPECT_NEAR(*change.high95, 0, 1e-9);
}

TEST(Bootstrap, ABaseOfZeroHasNoChange) {
  const std::vector<double> zero = {0, 0};
  EXPECT_FALSE(estimate_change(std::vector<double>{1, 2}, zero, 1).mean);
  // Some resamples are of zeros alone: a mean, but no bounds.
  const Change change = estimate_change(std::vector<double>{1, 2}, std::vector<double>{0, 1}, 1);
  EXPECT_EQ(*change.mean, 200);
  EXPECT_FALSE(change.low95);
}

TEST(Bootstrap, TheSameSeedGivesTheSameInterval) {
  const std::vector<double> days = {3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_EQ(estimate(days, 1).low95, estimate(days, 1).low95);
  EXPECT_NE(estimate(days, 1).low95, estimate(days, 2).low95);
}

TEST(Bootstrap, TheIntervalOfTheMedianHoldsTheMedianAndNotTheTail) {
  std::vector<double> days;
  for (int i = 1; i <= 99; ++i) days.push_back(i);
  days.push_back(1e6);  // One bad day moves the mean, not the median.
  const Interval interval = median_interval(days, 1);
  EXPECT_LT(*interval.low95, 50);
  EXPECT_GT(*interval.high95, 51);
  // The normal approximation: half a standard deviation of a binomial of 100 is 5 ranks; two of
  // them.
  EXPECT_NEAR(*interval.low95, 40.5, 3);
  EXPECT_NEAR(*interval.high95, 60.5, 3);
  EXPECT_FALSE(median_interval(std::vector<double>{3}, 1).low95);
}

}  // namespace
}  // namespace smartmig
