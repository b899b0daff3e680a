#include "nn/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace smartmig {
namespace {

TEST(Elementary, ExpIsNearTheExactOne) {
  for (float x = -86.9F; x < 87.9F; x += 0.0137F) {
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(exp_of(x) / exact, 1, 3e-7) << x;
  }
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_GT(exp_of(-1e30F), 0);
  EXPECT_TRUE(std::isfinite(exp_of(1e30F)));
}

TEST(Elementary, TanhIsNearTheExactOne) {
  for (float x = -12; x < 12; x += 0.00137F) {
    float y = x;
    tanh_all(&y, 1);
    ASSERT_NEAR(y, std::tanh(static_cast<double>(x)), 2e-7) << x;
  }
}

TEST(Elementary, GivesTheSameBitsWhereverTheArrayLies) {
  std::vector<float> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 4;
  std::vector<float> expected = x;
  tanh_all(expected.data(), expected.size());
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::vector<float> moved(x.size() + shift);
    std::copy(x.begin(), x.end(), moved.begin() + shift);
    tanh_all(moved.data() + shift, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(moved[shift + i], expected[i]);
  }
}

}  // namespace
}  // namespace smartmig
