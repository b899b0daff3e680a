// How far beliefs about run times were off: for the jobs that ended last, what each took over what
// it was estimated to take when it arrived, wherever it ran, and what was known of it then. 1 where
// the estimate was right.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "fleet/belief_correction.h"

namespace smartmig {

struct BeliefError {
  double ratio = 1;
  BeliefCorrection::Features features{};
};

class BeliefErrors {
 public:
  static constexpr std::size_t kKept = 256;

  void clear() { added_ = 0; }
  void add(const BeliefError& error) { errors_[added_++ % kKept] = error; }
  std::size_t size() const { return std::min(added_, kKept); }
  const BeliefError& operator[](std::size_t i) const { return errors_[i]; }  // In no order.

 private:
  std::array<BeliefError, kKept> errors_{};
  std::size_t added_ = 0;
};

}  // namespace smartmig
