#include "nn/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace smartmig {
namespace {

TEST(SymmetricEigen, PutsTheMatrixTogetherAgain) {
  constexpr std::size_t kSize = 9;
  Random random(1, "matrix");
  std::vector<double> matrix(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      matrix[i * kSize + j] = matrix[j * kSize + i] = random.normal();
    }
  }
  std::vector<double> values(kSize);
  std::vector<double> vectors(kSize * kSize);
  symmetric_eigen(kSize, matrix, values, vectors);
  for (std::size_t i = 0; i < kSize; ++i) {
    EXPECT_LE(values[i ? i - 1 : 0], values[i]);
    for (std::size_t j = 0; j < kSize; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kSize; ++k) {
        sum += values[k] * vectors[k * kSize + i] * vectors[k * kSize + j];
      }
      EXPECT_NEAR(sum, matrix[i * kSize + j], 1e-12);
    }
  }
}

}  // namespace
}  // namespace smartmig
