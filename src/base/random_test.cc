#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace smartmig {
namespace {

std::vector<std::uint64_t> draws(Random random, int n) {
  std::vector<std::uint64_t> out;
  for (int i = 0; i < n; ++i) out.push_back(random.bits());
  return out;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Values of an implementation in another language, itself checked against the published vectors of
// xoshiro256++ and splitmix64.
TEST(Random, GivesTheBitsOfTheReference) {
  EXPECT_EQ(
      draws(Random(1, "arrivals", 3), 3),
      (std::vector<std::uint64_t>{0x65fc847a02ed4f43, 0x5ad044484b6d8314, 0xf0ae9b56566f332e}));
  EXPECT_EQ(
      draws(Random(0, "", 0), 3),
      (std::vector<std::uint64_t>{0x11ea5d71ab27f4bf, 0xcc84b97bd65164de, 0x99539b09e7f2eab2}));
}

TEST(Random, SeedNameAndNumberEachGiveAnotherStream) {
  const auto one = draws(Random(1, "a", 1), 4);
  EXPECT_EQ(one, draws(Random(1, "a", 1), 4));
  EXPECT_NE(one, draws(Random(2, "a", 1), 4));
  EXPECT_NE(one, draws(Random(1, "b", 1), 4));
  EXPECT_NE(one, draws(Random(1, "a", 2), 4));
}

TEST(Random, UniformStaysInItsRange) {
  Random random(3, "uniform");
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = random.uniform(2, 4);
    ASSERT_GE(x, 2);
    ASSERT_LE(x, 4);
    sum += x;
  }
  // Standard error .0018; five of them.
  EXPECT_NEAR(sum / 100'000, 3, 0.01);
}

TEST(Random, BelowIsEvenOverItsValues) {
  Random random(4, "below");
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen[random.below(7)];
  // Each is 10,000 with a standard deviation of 93.
  for (int count : seen) EXPECT_NEAR(count, 10'000, 5 * 93);
  EXPECT_EQ(random.below(1), 0u);
  // Two thirds of 2^64: where a remainder without rejection gives the lower half twice the weight.
  const std::uint64_t n = 0xaaaaaaaaaaaaaaaau;
  int low = 0;
  for (int i = 0; i < 10'000; ++i) low += random.below(n) < n / 2;
  EXPECT_NEAR(low, 5'000, 5 * 50);
}

TEST(Random, DistributionsHaveTheirMoments) {
  Random random(5, "moments");
  const int n = 200'000;
  double exponential = 0, normal = 0, square = 0;
  int below_median = 0;
  for (int i = 0; i < n; ++i) {
    exponential += random.exponential(3);
    const double z = random.normal();
    normal += z;
    square += z * z;
    below_median += random.lognormal(2, 0.5) < std::exp(2.0);
  }
  // Five standard errors each: 3/sqrt(n), 1/sqrt(n), sqrt(2/n), sqrt(n)/2.
  EXPECT_NEAR(exponential / n, 3, 0.034);
  EXPECT_NEAR(normal / n, 0, 0.012);
  EXPECT_NEAR(square / n, 1, 0.016);
  EXPECT_NEAR(below_median, n / 2, 1'200);
}

TEST(NormalQuantile, AgreesWithTheErrorFunctionAndWithTables) {
  for (double p : {1e-300, 1e-20, 1e-9, 0.001, 0.05, 0.3, 0.5, 0.7, 0.9, 0.95}) {
    EXPECT_NEAR(normal_cdf(normal_quantile(p)) / p, 1, 1e-11) << p;
  }
  EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-14);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-13);
  EXPECT_NEAR(normal_quantile(0.999999), 4.753424308817089, 1e-9);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

}  // namespace
}  // namespace smartmig
