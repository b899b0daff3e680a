#include "nn/normaliser.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"

namespace smartmig {
namespace {

constexpr float kFarthest = 10;
// Keeps a column that never changes from being blown up.
constexpr double kLeastVariance = 1e-8;

}  // namespace

void Normaliser::apply(std::span<const float> rows, std::span<float> out) const {
  const std::size_t width = mean.size();
  SM_CHECK(rows.size() == out.size() && rows.size() % width == 0);
  for (std::size_t at = 0; at < rows.size(); at += width) {
    for (std::size_t i = 0; i < width; ++i) {
      const float z = (rows[at + i] - mean[i]) * scale[i];
      out[at + i] = std::min(std::max(z, -kFarthest), kFarthest);
    }
  }
}

RunningNormaliser::RunningNormaliser(int width)
    : mean(width), squares(width), block_mean_(width), block_squares_(width) {}

void RunningNormaliser::add(std::span<const float> rows) {
  const std::size_t width = mean.size();
  SM_CHECK(rows.size() % width == 0);
  if (rows.empty()) return;
  const double added = static_cast<double>(rows.size() / width);
  std::fill(block_mean_.begin(), block_mean_.end(), 0.0);
  std::fill(block_squares_.begin(), block_squares_.end(), 0.0);
  for (std::size_t at = 0; at < rows.size(); at += width) {
    for (std::size_t i = 0; i < width; ++i) block_mean_[i] += rows[at + i];
  }
  for (double& m : block_mean_) m /= added;
  for (std::size_t at = 0; at < rows.size(); at += width) {
    for (std::size_t i = 0; i < width; ++i) {
      const double d = rows[at + i] - block_mean_[i];
      block_squares_[i] += d * d;
    }
  }
  const double total = count + added;
  for (std::size_t i = 0; i < width; ++i) {
    const double d = block_mean_[i] - mean[i];
    mean[i] += d * added / total;
    squares[i] += block_squares_[i] + d * d * count * added / total;
  }
  count = total;
}

double RunningNormaliser::variance(std::size_t column) const {
  return count < 2 ? 1 : squares[column] / count;
}

void RunningNormaliser::freeze_into(Normaliser& out) const {
  out.mean.resize(mean.size());
  out.scale.resize(mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    out.mean[i] = static_cast<float>(mean[i]);
    out.scale[i] = static_cast<float>(1 / std::sqrt(variance(i) + kLeastVariance));
  }
}

Normaliser RunningNormaliser::frozen() const {
  Normaliser out;
  freeze_into(out);
  return out;
}

}  // namespace smartmig
