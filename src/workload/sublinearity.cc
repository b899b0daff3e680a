#include "workload/sublinearity.h"

#include <algorithm>
#include <numeric>

namespace smartmig {

std::optional<double> sublinearity(const std::array<double, kSizeCount>& speed) {
  if (std::ranges::any_of(speed, [](double s) { return s <= 0; })) return std::nullopt;
  const double mean_size = std::accumulate(kSizes.begin(), kSizes.end(), 0.0) / kSizeCount;
  double with_speed = 0;
  double with_size = 0;
  for (std::size_t i = 0; i < kSizeCount; ++i) {
    with_speed += (kSizes[i] - mean_size) * speed[i];
    with_size += (kSizes[i] - mean_size) * (kSizes[i] - mean_size);
  }
  return with_speed / with_size / speed[0];
}

std::optional<double> sublinearity(const Job& job) {
  std::array<double, kSizeCount> speed{};
  for (std::size_t i = 0; i < kSizeCount; ++i)
    speed[i] = job.time_us[i] > 0 ? 1 / static_cast<double>(job.time_us[i]) : 0;
  return sublinearity(speed);
}

}  // namespace smartmig
