// A price for each resource in each stretch of time: what one compute or memory slice of a board
// costs for a second. Every choice of prices that are not negative gives a valid bound.
#pragma once

#include <vector>

namespace smartmig {

// Invariants: 1. edges_s starts at 0 and ascends; stretch i lasts from edges_s[i] to edges_s[i +
// 1], the last one for ever; 2. value has one price for each resource (RelaxedProblem::capacity)
// and stretch, resource after resource, none negative; 3. those of the last stretch are 0.
struct Prices {
  std::vector<double> edges_s;
  std::vector<double> value;

  std::size_t stretches() const { return edges_s.size(); }
  double at(std::size_t resource, std::size_t stretch) const {
    return value[resource * stretches() + stretch];
  }
};

}  // namespace smartmig
