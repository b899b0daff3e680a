// How far beliefs about run times were off: for the jobs that ended last, what each took over what
// it was believed to take when it arrived, wherever it ran. 1 where the belief was right.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace smartmig {

class BeliefErrors {
 public:
  static constexpr std::size_t kKept = 256;

  void clear() { added_ = 0; }
  void add(double ratio) { ratios_[added_++ % kKept] = ratio; }
  std::size_t size() const { return std::min(added_, kKept); }
  double operator[](std::size_t i) const { return ratios_[i]; }  // In no particular order.

 private:
  std::array<double, kKept> ratios_{};
  std::size_t added_ = 0;
};

}  // namespace smartmig
