// Units. Simulated time is a whole number of microseconds, so that sums of times are exact and the
// same on every machine. Energy is in joules, power in watts, memory in MiB; the unit is in the
// name (`_us`, `_s`, `_j`, `_w`, `_mib`). The papers' minutes and W*min appear only where their
// tables are printed.
#pragma once

#include <cmath>
#include <cstdint>

namespace smartmig {

using TimeUs = std::int64_t;

inline constexpr TimeUs kSecondUs = 1'000'000;
inline constexpr TimeUs kMinuteUs = 60 * kSecondUs;
inline constexpr TimeUs kHourUs = 60 * kMinuteUs;
inline constexpr TimeUs kDayUs = 24 * kHourUs;
inline constexpr TimeUs kNever = INT64_MAX;

// The longest time accepted from outside, about 317 years: sums of a few of them cannot overflow.
inline constexpr double kMaxSeconds = 1e10;

inline constexpr double kJoulesPerWattMinute = 60.0;
inline constexpr double kJoulesPerKwh = 3.6e6;

// Nearest microsecond. The caller has checked that |seconds| <= kMaxSeconds.
inline TimeUs to_us(double seconds) { return std::llround(seconds * 1e6); }
// Divided, not times 1e-6: then 100,000 us is the double nearest to .1, and prints as 0.1.
inline double to_s(TimeUs us) { return static_cast<double>(us) / 1e6; }
inline double to_min(TimeUs us) { return static_cast<double>(us) / static_cast<double>(kMinuteUs); }

}  // namespace smartmig
