#include "base/binomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace smartmig {
namespace {

double pmf(int n, double p, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                  k * std::log(p) + (n - k) * std::log1p(-p));
}

// Chi-square over cells of at least ten expected draws, the tails gathered; how many standard
// deviations it lies above its mean.
double misfit(int n, double p, int draws) {
  Random random(11, "binomial", static_cast<std::uint64_t>(n));
  std::vector<int> seen(static_cast<std::size_t>(n) + 1);
  for (int i = 0; i < draws; ++i) ++seen[binomial(random, static_cast<std::uint64_t>(n), p)];
  double chi = 0;
  double cells = -1;
  double expected = 0;
  double found = 0;
  for (int k = 0; k <= n; ++k) {
    expected += draws * pmf(n, p, k);
    found += seen[static_cast<std::size_t>(k)];
    if (expected < 10) continue;
    chi += (found - expected) * (found - expected) / expected;
    cells += 1;
    expected = found = 0;
  }
  chi += (found - expected) * (found - expected) / std::max(expected, 1.0);
  return (chi - cells) / std::sqrt(2 * std::max(cells, 1.0));
}

TEST(Binomial, FollowsTheExactDistributionByInversion) {
  EXPECT_LT(std::abs(misfit(1, 0.3, 100'000)), 5);
  EXPECT_LT(std::abs(misfit(8, 0.5, 100'000)), 5);
  EXPECT_LT(std::abs(misfit(12, 0.9, 100'000)), 5);
  EXPECT_LT(std::abs(misfit(5000, 0.001, 100'000)), 5);
}

TEST(Binomial, FollowsTheExactDistributionByRejection) {
  EXPECT_LT(std::abs(misfit(21, 0.49, 400'000)), 5);
  EXPECT_LT(std::abs(misfit(200, 0.06, 400'000)), 5);
  EXPECT_LT(std::abs(misfit(1000, 0.73, 400'000)), 5);
  EXPECT_LT(std::abs(misfit(20'000, 0.25, 400'000)), 5);
}

TEST(Binomial, KeepsToItsRangeAtTheEnds) {
  Random random(1, "ends");
  EXPECT_EQ(binomial(random, 0, 0.5), 0u);
  EXPECT_EQ(binomial(random, 9, 0), 0u);
  EXPECT_EQ(binomial(random, 9, 1), 9u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(binomial(random, 40, 1 - 1e-9), 40u);
    EXPECT_LE(binomial(random, 1'000'000, 1e-12), 1'000'000u);
  }
}

TEST(Binomial, HasMeanAndSpreadForAMillionTrials) {
  Random random(2, "million");
  const double n = 1e6;
  const double p = 0.37;
  const double sigma = std::sqrt(n * p * (1 - p));
  double sum = 0;
  double square = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = (static_cast<double>(binomial(random, 1'000'000, p)) - n * p) / sigma;
    sum += z;
    square += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(square / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace smartmig
