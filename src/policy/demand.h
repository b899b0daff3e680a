// What is about to arrive, as far as the past tells: how much work arrives, as a mean that forgets,
// and whether the hour ahead is busier than the one behind by the papers' daily curve.
#pragma once

#include <array>

#include "fleet/view.h"

namespace smartmig {

// For each GPU, at the papers' multiplier of 20 for 8 GPUs.
inline constexpr double kPapersJobsADay = 519;

class Demand {
 public:
  void begin(TimeUs now);
  // Counts the jobs that arrived since the last call.
  void observe(const View& view);
  // ln of the work that arrives per compute slice and minute, in minutes on the smallest size.
  double load() const;
  // Jobs that arrive for each GPU in a day, since the beginning.
  double jobs_a_day(const View& view) const;
  // ln of the daily curve a little ahead over an hour back.
  double trend(TimeUs now) const;

 private:
  double curve_at(double hour) const;

  std::array<double, 24> curve_{};
  TimeUs begin_us_ = 0;
  TimeUs last_us_ = 0;
  JobIndex seen_ = 0;
  double work_ = 0;    // Per slice and minute, weighted by age.
  double weight_ = 0;  // Of what was seen: towards 1 as the run goes on.
};

}  // namespace smartmig
