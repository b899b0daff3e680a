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
  // Jobs have other numbers: those below this one were counted.
  void skip_to(JobIndex arrived) { next_ = arrived; }
  // ln of the work that arrives per compute slice and minute, in minutes on the smallest size.
  double load() const;
  // Jobs that arrive for each GPU in a day, since the beginning.
  double jobs_a_day(TimeUs now) const;
  // ln of the daily curve a little ahead over an hour back.
  double trend(TimeUs now) const;

 private:
  double curve_at(double hour) const;

  std::array<double, 24> curve_{};
  TimeUs begin_us_ = 0;
  TimeUs last_us_ = 0;
  JobIndex next_ = 0;        // The first job that was not counted.
  double jobs_per_gpu_ = 0;  // Counted.
  double work_ = 0;          // Per slice and minute, weighted by age.
  double weight_ = 0;        // Of what was seen: towards 1 as the run goes on.
};

}  // namespace smartmig
