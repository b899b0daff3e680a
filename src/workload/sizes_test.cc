#include "workload/sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace smartmig {
namespace {

JobSizes sizes_of(SizeLaw law) {
  JobSizes sizes;
  sizes.law = law;
  return sizes;
}

TEST(Sizes, HaveMeanOneUnderEveryLaw) {
  for (const SizeLaw law :
       {SizeLaw::kConstant, SizeLaw::kExponential, SizeLaw::kLognormal, SizeLaw::kPareto}) {
    Random random(7, "test");
    double sum = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) sum += draw_relative_size(sizes_of(law), random);
    EXPECT_NEAR(sum / kDraws, 1, .03) << to_string(law);
  }
}

TEST(Sizes, OfParetoSpanAThousandfold) {
  Random random(7, "test");
  double least = 1e9;
  double most = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double size = draw_relative_size(sizes_of(SizeLaw::kPareto), random);
    least = std::min(least, size);
    most = std::max(most, size);
  }
  // By hand, shape 1.5: the mean of [1, 1000] is 3 * (1 - 1000^-.5) / (1 - 1000^-1.5) = 2.90522.
  EXPECT_NEAR(least, 1 / 2.90522, 1e-5);
  EXPECT_LE(most, 1000 / 2.90522 * 1.0001);
  EXPECT_GT(most, 500 / 2.90522);
}

TEST(Sizes, KeepTheMeanOfAllJobsWhereTrainingIsLonger) {
  JobSizes sizes;
  sizes.mean_s = 100;
  sizes.training_factor = 9;
  // x for inference, 9x for training: .75 x + .25 * 9x = 3x = 100.
  EXPECT_NEAR(mean_size_s(sizes, JobKind::kInference, .25), 100.0 / 3, 1e-9);
  EXPECT_NEAR(mean_size_s(sizes, JobKind::kTraining, .25), 300, 1e-9);
}

TEST(Sizes, NameTheLawsWhereOneIsUnknown) {
  EXPECT_EQ(parse_size_law("gauss").error().message,
            "found 'gauss', expected constant, exponential, lognormal or pareto");
}

}  // namespace
}  // namespace smartmig
