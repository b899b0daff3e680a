// Numbers of successes, for draws on behalf of many at once.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace smartmig {

// How many of `n` independent trials succeed, each with probability `p` in [0, 1]. The cost does
// not grow with n: inversion where fewer than ten successes (or failures) are expected, Hormann's
// transformed rejection (BTRS, 1993) elsewhere. Exact up to the rounding of doubles.
std::uint64_t binomial(Random& random, std::uint64_t n, double p);

}  // namespace smartmig
