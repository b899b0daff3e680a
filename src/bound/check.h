// The certified value: what given prices prove, from the jobs and the fleet alone. This shares no
// code with the search for prices, trusts nothing it found, and rounds every operation so that the
// result can only be too low. docs/model/bounds.md has the argument, step by step in the same
// order.
#pragma once

#include "bound/prices.h"
#include "bound/problem.h"

namespace smartmig {

// A lower bound on weights.per_joule * energy + weights.per_late_s * sum of tardiness over all
// schedules. The prices must keep the invariants of Prices.
double certified_value(const BoundInput& input, const Weights& weights, const Prices& prices,
                       int threads);

// What is wrong with prices that were read from somewhere, for this many resources.
Result<void> check_prices(const Prices& prices, std::size_t resources);

}  // namespace smartmig
