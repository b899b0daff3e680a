// How a policy stands against simple ones on the days of a setting. The best simple policy is
// chosen on even days and scored on odd ones, and the reverse, so that choosing among many does not
// flatter it; the best in hindsight, chosen and scored on all days, stands beside it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "study/bootstrap.h"

namespace smartmig {

// Of mean ETs; below 1 the policy is better. The interval is paired.
struct Ratio {
  double mean = 0;
  std::optional<double> low95, high95;

  // Half the width of the interval, in percent of the ratio.
  std::optional<double> half_width_pct() const;
};

struct SuiteScore {
  std::array<std::size_t, 2>
      chosen{};  // Simple policies, by the days they were chosen on: even, odd.
  Ratio ratio;
  std::size_t in_hindsight = 0;
  Ratio hindsight_ratio;
};

// ET by day, all of the same days, of which there are at least two; at least one simple policy.
// Of equal means the first counts. A simple policy may have infinite days.
SuiteScore score(std::span<const double> policy, std::span<const std::vector<double>> simple,
                 std::uint64_t seed);

// Which of the simple policies may still be the best: those whose mean on the even or on the odd
// days is at most `factor` times the least one there.
std::vector<std::size_t> still_racing(std::span<const std::vector<double>> simple, double factor);

}  // namespace smartmig
