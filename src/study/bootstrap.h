// Means over days with their uncertainty, by the percentile bootstrap (Efron and Tibshirani 1993,
// chapters 13 and 14): the days are drawn with replacement 2,000 times, and the interval holds the
// middle 95 % of the means found. Days are independent and few, and tardiness is heavy-tailed, so
// nothing is assumed about their distribution. Every call with one seed and one number of days
// draws the same days, which is what makes comparisons paired.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace smartmig {

inline constexpr int kResamples = 2000;

struct Estimate {
  double mean = 0;
  double median = 0;  // Of the days themselves.
  // Of the mean; nothing where there is only one day.
  std::optional<double> low95, high95;
};
// There must be at least one day.
Estimate estimate(std::span<const double> days, std::uint64_t seed);

// Of the median, in the same way.
struct Interval {
  std::optional<double> low95, high95;
};
Interval median_interval(std::span<const double> days, std::uint64_t seed);

// How far the mean is from a base's, in percent of the base's.
struct Change {
  std::optional<double> mean;  // Nothing where the base's mean is 0.
  std::optional<double> low95, high95;
};
// `days` and `base` are of the same days, in the same order. The ratio of means, not the mean of
// ratios: a quiet day must not weigh as much as a busy one.
Change estimate_change(std::span<const double> days, std::span<const double> base,
                       std::uint64_t seed);

}  // namespace smartmig
