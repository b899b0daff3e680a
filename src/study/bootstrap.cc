#include "study/bootstrap.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Calls body(draw) for each resample; draw() gives the index of its next day and is to be called
// `count` times.
template <class Body>
void for_each_resample(std::size_t count, std::uint64_t seed, const Body& body) {
  Random random(seed, "bootstrap", count);
  for (int i = 0; i < kResamples; ++i) body([&] { return random.below(count); });
}

struct Middle95 {
  double low, high;
};
Middle95 middle95(std::vector<double>& found) {
  std::sort(found.begin(), found.end());
  return {quantile(found, 0.025), quantile(found, 0.975)};
}

}  // namespace

Estimate estimate(std::span<const double> days, std::uint64_t seed) {
  SM_CHECK(!days.empty());
  Estimate result;
  result.mean = mean_of(days);
  std::vector<double> sorted(days.begin(), days.end());
  std::sort(sorted.begin(), sorted.end());
  result.median = quantile(sorted, 0.5);
  if (days.size() < 2) return result;
  std::vector<double> means;
  means.reserve(kResamples);
  for_each_resample(days.size(), seed, [&](auto draw) {
    double sum = 0;
    for (std::size_t k = 0; k < days.size(); ++k) sum += days[draw()];
    means.push_back(sum / static_cast<double>(days.size()));
  });
  const Middle95 middle = middle95(means);
  result.low95 = middle.low;
  result.high95 = middle.high;
  return result;
}

Interval median_interval(std::span<const double> days, std::uint64_t seed) {
  SM_CHECK(!days.empty());
  if (days.size() < 2) return {};
  std::vector<double> medians;
  medians.reserve(kResamples);
  std::vector<double> drawn(days.size());
  for_each_resample(days.size(), seed, [&](auto draw) {
    for (double& day : drawn) day = days[draw()];
    std::sort(drawn.begin(), drawn.end());
    medians.push_back(quantile(drawn, 0.5));
  });
  const Middle95 middle = middle95(medians);
  return {middle.low, middle.high};
}

Change estimate_change(std::span<const double> days, std::span<const double> base,
                       std::uint64_t seed) {
  SM_CHECK(!days.empty() && days.size() == base.size());
  Change result;
  const auto percent = [](double sum, double base_sum) { return 100 * (sum / base_sum - 1); };
  const double base_mean = mean_of(base);
  if (base_mean == 0) return result;
  result.mean = percent(mean_of(days), base_mean);
  if (days.size() < 2) return result;
  std::vector<double> changes;
  changes.reserve(kResamples);
  bool defined = true;
  for_each_resample(days.size(), seed, [&](auto draw) {
    double sum = 0;
    double base_sum = 0;
    for (std::size_t k = 0; k < days.size(); ++k) {
      const std::size_t day = draw();
      sum += days[day];
      base_sum += base[day];
    }
    defined = defined && base_sum != 0;
    changes.push_back(defined ? percent(sum, base_sum) : 0);
  });
  if (!defined) return result;  // Days of 0 alone can be drawn: then the ratio has no bounds.
  const Middle95 middle = middle95(changes);
  result.low95 = middle.low;
  result.high95 = middle.high;
  return result;
}

}  // namespace smartmig
