// Observations brought to mean 0 and spread 1 by what was seen so far. RunningNormaliser learns
// (Welford's sums, blocks merged by Chan et al. 1983), in double and in the order of the calls;
// Normaliser is a frozen copy of it for inference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace smartmig {

struct Normaliser {
  std::vector<float> mean;
  std::vector<float> scale;  // 1 / standard deviation.

  // Row-major, any number of rows; the result is cut to +-10, beyond which nothing was learned.
  void apply(std::span<const float> rows, std::span<float> out) const;
};

struct RunningNormaliser {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;  // Sum of squared distances from the mean.

  explicit RunningNormaliser(int width);
  void add(std::span<const float> rows);
  double variance(std::size_t column) const;  // 1 before the second row.
  Normaliser frozen() const;
  void freeze_into(Normaliser& out) const;  // The same without allocating, where it has the width.

 private:
  std::vector<double> block_mean_;
  std::vector<double> block_squares_;
};

}  // namespace smartmig
