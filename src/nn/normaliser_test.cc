#include "nn/normaliser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace smartmig {
namespace {

TEST(Normaliser, LearnsTheSameFromBlocksAsFromTheWhole) {
  Random random(1, "rows");
  std::vector<float> rows(3 * 1000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double spread = static_cast<double>(i % 3) + 1;
    rows[i] = static_cast<float>(1000 * spread + spread * random.normal());
  }
  RunningNormaliser whole(3);
  whole.add(rows);
  RunningNormaliser blocks(3);
  const std::span all(rows);
  for (std::size_t at = 0, size = 1; at < 1000; at += size, ++size) {
    blocks.add(all.subspan(at * 3, std::min(size, 1000 - at) * 3));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    double mean = 0;
    double variance = 0;
    for (std::size_t r = 0; r < 1000; ++r) mean += rows[r * 3 + i] / 1000.0;
    for (std::size_t r = 0; r < 1000; ++r) variance += std::pow(rows[r * 3 + i] - mean, 2) / 1000;
    EXPECT_NEAR(whole.mean[i], mean, 1e-8);
    EXPECT_NEAR(blocks.mean[i], mean, 1e-8);
    EXPECT_NEAR(whole.variance(i), variance, 1e-8);
    EXPECT_NEAR(blocks.variance(i), variance, 1e-8);
  }
}

TEST(Normaliser, BringsRowsToMeanZeroAndSpreadOneAndCutsOutliers) {
  RunningNormaliser running(2);
  running.add(std::vector<float>{1, 5, 3, 5});
  const Normaliser frozen = running.frozen();
  std::vector<float> out(4);
  frozen.apply(std::vector<float>{1, 5, 1e6F, -1e6F}, out);
  EXPECT_NEAR(out[0], -1, 1e-6);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 10);
  EXPECT_EQ(out[3], -10);
  // Frozen: what is seen later does not move it.
  running.add(std::vector<float>{100, 100});
  frozen.apply(std::vector<float>{1, 5, 1, 5}, out);
  EXPECT_NEAR(out[0], -1, 1e-6);
}

}  // namespace
}  // namespace smartmig
