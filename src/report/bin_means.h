// Means over bins of equal length of a sum of things that each have a value for a while. O(1) for
// each thing, however many bins it spans.
#pragma once

#include <algorithm>
#include <vector>

#include "base/units.h"

namespace smartmig {

// `Value` is a whole number where the sums must be exact.
template <class Value>
class BinMeans {
 public:
  BinMeans(TimeUs begin_us, TimeUs end_us, TimeUs bin_us)
      : begin_us_(begin_us),
        end_us_(end_us),
        bin_us_(bin_us),
        part_(bins() + 1),
        change_(bins() + 2) {}

  // `value` from one time to another; what lies outside the span does not count.
  void add(TimeUs from, TimeUs to, Value value) {
    from = std::clamp(from, begin_us_, end_us_);
    to = std::clamp(to, begin_us_, end_us_);
    if (from >= to) return;
    const std::size_t first = bin_of(from);
    const std::size_t last = bin_of(to);
    if (first == last) {
      part_[first] += value * static_cast<Value>(to - from);
      return;
    }
    part_[first] += value * static_cast<Value>(start_of(first + 1) - from);
    part_[last] += value * static_cast<Value>(to - start_of(last));
    // The bins between are covered whole.
    change_[first + 1] += value;
    change_[last] -= value;
  }

  std::vector<double> means() const {
    std::vector<double> means(bins());
    Value whole = 0;
    for (std::size_t bin = 0; bin < means.size(); ++bin) {
      whole += change_[bin];
      const TimeUs length = std::min(end_us_, start_of(bin + 1)) - start_of(bin);
      const Value sum = part_[bin] + whole * static_cast<Value>(length);
      means[bin] = static_cast<double>(sum) / static_cast<double>(length);
    }
    return means;
  }

 private:
  std::size_t bins() const {
    return static_cast<std::size_t>((end_us_ - begin_us_ + bin_us_ - 1) / bin_us_);
  }
  std::size_t bin_of(TimeUs at) const {
    return static_cast<std::size_t>((at - begin_us_) / bin_us_);
  }
  TimeUs start_of(std::size_t bin) const { return begin_us_ + static_cast<TimeUs>(bin) * bin_us_; }

  TimeUs begin_us_, end_us_, bin_us_;
  std::vector<Value> part_;    // Of bins that a thing begins or ends in.
  std::vector<Value> change_;  // Of the sum over things that cover whole bins.
};

}  // namespace smartmig
