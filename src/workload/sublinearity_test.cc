#include "workload/sublinearity.h"

#include <gtest/gtest.h>

#include "workload/generator.h"

namespace smartmig {
namespace {

using Speeds = std::array<double, kSizeCount>;

TEST(Sublinearity, IsOneForLinearAndZeroForFlatSpeeds) {
  EXPECT_NEAR(*sublinearity(Speeds{3, 6, 9, 12, 21}), 1, 1e-12);
  EXPECT_NEAR(*sublinearity(Speeds{3, 3, 3, 3, 3}), 0, 1e-12);
}

// By hand: sizes less their mean 3.4 are -2.4, -1.4, -.4, .6, 3.6, squares 21.2; with the speeds
// 100, 200, 300, 300, 300 they sum to 620, so the slope is 29.245.
TEST(Sublinearity, IsTheSlopeOverTheSpeedOnOneSlice) {
  EXPECT_NEAR(*sublinearity(Speeds{100, 200, 300, 300, 300}), 620 / 21.2 / 100, 1e-12);
}

TEST(Sublinearity, NeedsEverySize) { EXPECT_FALSE(sublinearity(Speeds{1, 0, 3, 4, 7})); }

TEST(Sublinearity, OfTheArrivalMixIsThePapers) {
  double sum = 0;
  const JobTable day = generate(GeneratorOptions());
  for (const Job& job : day.jobs) sum += *sublinearity(job);
  EXPECT_NEAR(sum / static_cast<double>(day.jobs.size()), .84, .01);
}

}  // namespace
}  // namespace smartmig
