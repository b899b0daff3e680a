// Whether the policy that is modelled beside the controller's own (control/counterfactual.h) was
// better over the last day. Sums since the start are told now and then; the difference of two that
// lie a day apart is what happened in that day.
//
//   DayComparison days(2e-7, 8);
//   days.take(now, own, other);
//   if (days.last_day() && days.last_day()->other_is_better) ...
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/units.h"

namespace smartmig {

// Sums since the controller started.
struct PolicySums {
  double energy_j = 0;
  std::int64_t done = 0;
  double tardiness_s = 0;  // Over the jobs done.
};

struct DayVerdict {
  double own_et = 0, other_et = 0;  // As in docs/model/model.md, of the last day.
  std::int64_t own_done = 0, other_done = 0;
  // Lower ET by more than kDayMargin, with nearly as many jobs done: an alarm.
  bool other_is_better = false;
};

inline constexpr TimeUs kComparedUs = kDayUs;
inline constexpr TimeUs kDaySampleUs = 15 * kMinuteUs;  // Sums are kept this often.
inline constexpr std::int64_t kDayLeastJobs = 50;       // Done by each policy in the day.
inline constexpr double kDayMargin = 0.05;  // Less of a difference says nothing about a day.
// A policy that does fewer jobs leaves out those that would have been late.
inline constexpr double kDayLeastShare = 0.98;

class DayComparison {
 public:
  DayComparison(double energy_weight, double gpus) : energy_weight_(energy_weight), gpus_(gpus) {}

  // Time never goes back.
  void take(TimeUs now, const PolicySums& own, const PolicySums& other);
  bool wants(TimeUs now) const { return samples_.empty() || now >= newest_us_ + kDaySampleUs; }
  void clear() { samples_.clear(), verdict_.reset(); }
  // Of the day up to the last sums; none before a day has passed or where too few jobs were done.
  const std::optional<DayVerdict>& last_day() const { return verdict_; }

 private:
  struct Sample {
    TimeUs at_us = 0;
    PolicySums own, other;
  };
  double et(const PolicySums& from, const PolicySums& to, TimeUs length_us) const;

  double energy_weight_;
  double gpus_;
  std::deque<Sample> samples_;  // Oldest first; the first is the latest that is a day old.
  TimeUs newest_us_ = 0;
  std::optional<DayVerdict> verdict_;
};

}  // namespace smartmig
