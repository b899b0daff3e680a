#include "control/day_comparison.h"

#include "fleet/objective.h"

namespace smartmig {

double DayComparison::et(const PolicySums& from, const PolicySums& to, TimeUs length_us) const {
  const auto done = static_cast<double>(to.done - from.done);
  return weigh(to.energy_j - from.energy_j, (to.tardiness_s - from.tardiness_s) / done,
               energy_weight_, gpus_, static_cast<double>(length_us) / kDayUs);
}

void DayComparison::take(TimeUs now, const PolicySums& own, const PolicySums& other) {
  newest_us_ = now;
  samples_.push_back({now, own, other});
  while (samples_.size() > 1 && samples_[1].at_us <= now - kComparedUs) samples_.pop_front();
  verdict_.reset();
  const Sample& first = samples_.front();
  const TimeUs length_us = now - first.at_us;
  DayVerdict verdict;
  verdict.own_done = own.done - first.own.done;
  verdict.other_done = other.done - first.other.done;
  if (length_us < kComparedUs || verdict.own_done < kDayLeastJobs ||
      verdict.other_done < kDayLeastJobs)
    return;
  verdict.own_et = et(first.own, own, length_us);
  verdict.other_et = et(first.other, other, length_us);
  verdict.other_is_better = verdict.other_et < (1 - kDayMargin) * verdict.own_et &&
                            static_cast<double>(verdict.other_done) >=
                                kDayLeastShare * static_cast<double>(verdict.own_done);
  verdict_ = verdict;
}

}  // namespace smartmig
