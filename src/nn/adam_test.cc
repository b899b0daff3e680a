#include "nn/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smartmig {
namespace {

// The article's formulas in double.
TEST(Adam, MovesAsTheArticleSays) {
  Adam adam;
  std::vector<float> x = {1, -2, 3};
  std::vector<double> expected = {1, -2, 3};
  std::vector<double> m(3);
  std::vector<double> v(3);
  for (int t = 1; t <= 50; ++t) {
    std::vector<float> g(3);
    for (std::size_t i = 0; i < 3; ++i) {
      g[i] = static_cast<float>(std::sin(t + 3.0 * static_cast<double>(i)));
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      const double mean = m[i] / (1 - std::pow(0.9, t));
      const double square = v[i] / (1 - std::pow(0.999, t));
      expected[i] -= 0.01 * mean / (std::sqrt(square) + 1e-5);
    }
    adam.step(x, g, 0.01);
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], expected[i], 1e-5);
  EXPECT_EQ(adam.steps, 50);
}

TEST(ClipGradient, ShortensOnlyWhatIsTooLong) {
  std::vector<float> g = {3, 4};
  EXPECT_DOUBLE_EQ(clip_gradient(g, 10), 5);
  EXPECT_EQ(g, (std::vector<float>{3, 4}));
  EXPECT_DOUBLE_EQ(clip_gradient(g, 0), 5);
  EXPECT_EQ(g, (std::vector<float>{3, 4}));
  EXPECT_DOUBLE_EQ(clip_gradient(g, 1), 5);
  EXPECT_NEAR(g[0], 0.6, 1e-6);
  EXPECT_NEAR(g[1], 0.8, 1e-6);
}

}  // namespace
}  // namespace smartmig
