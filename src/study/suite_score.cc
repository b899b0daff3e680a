#include "study/suite_score.h"

#include <cmath>
#include <limits>
#include <optional>

#include "base/result.h"

namespace smartmig {
namespace {

// Over the days `first`, `first + 2`, ...
double mean_of_half(std::span<const double> days, std::size_t first) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t day = first; day < days.size(); day += 2, ++count) sum += days[day];
  return sum / static_cast<double>(count);
}

double mean_of_all(std::span<const double> days) {
  double sum = 0;
  for (const double day : days) sum += day;
  return sum / static_cast<double>(days.size());
}

template <class Mean>
std::size_t index_of_least(std::size_t count, const Mean& mean) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (mean(i) < mean(best)) best = i;
  return best;
}

Ratio ratio_of(std::span<const double> days, std::span<const double> base, std::uint64_t seed) {
  const Change change = estimate_change(days, base, seed);
  const auto as_ratio = [](double percent) { return 1 + percent / 100; };
  Ratio ratio;
  ratio.mean = change.mean ? as_ratio(*change.mean) : std::numeric_limits<double>::infinity();
  if (change.low95) ratio.low95 = as_ratio(*change.low95);
  if (change.high95) ratio.high95 = as_ratio(*change.high95);
  return ratio;
}

}  // namespace

std::optional<double> Ratio::half_width_pct() const {
  if (!low95 || !high95) return std::nullopt;
  return 50 * (*high95 - *low95) / mean;
}

SuiteScore score(std::span<const double> policy, std::span<const std::vector<double>> simple,
                 std::uint64_t seed) {
  SM_CHECK(policy.size() >= 2 && !simple.empty());
  SuiteScore result;
  for (std::size_t half = 0; half < 2; ++half) {
    result.chosen[half] =
        index_of_least(simple.size(), [&](std::size_t i) { return mean_of_half(simple[i], half); });
  }
  std::vector<double> base(policy.size());
  for (std::size_t day = 0; day < base.size(); ++day)
    base[day] = simple[result.chosen[1 - day % 2]][day];
  result.ratio = ratio_of(policy, base, seed);
  result.in_hindsight =
      index_of_least(simple.size(), [&](std::size_t i) { return mean_of_all(simple[i]); });
  result.hindsight_ratio = ratio_of(policy, simple[result.in_hindsight], seed);
  return result;
}

std::vector<std::size_t> still_racing(std::span<const std::vector<double>> simple, double factor) {
  std::vector<std::size_t> left;
  std::array<double, 2> least{};
  for (std::size_t half = 0; half < 2; ++half) {
    least[half] = std::numeric_limits<double>::infinity();
    for (const auto& days : simple) least[half] = std::min(least[half], mean_of_half(days, half));
  }
  for (std::size_t i = 0; i < simple.size(); ++i) {
    const bool even = mean_of_half(simple[i], 0) <= factor * least[0];
    const bool odd = mean_of_half(simple[i], 1) <= factor * least[1];
    if ((even || odd) && std::isfinite(mean_of_all(simple[i]))) left.push_back(i);
  }
  return left;
}

}  // namespace smartmig
