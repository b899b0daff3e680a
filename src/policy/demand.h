// What is about to arrive, as far as the past tells: how much work arrives, as a mean that forgets,
// how long jobs are, for how long jobs have had to wait, and whether the hour ahead is busier than
// the one behind by the papers' daily curve.
#pragma once

#include <array>

#include "fleet/view.h"

namespace smartmig {

// The papers' day, at their multiplier of 20: GPUs, and jobs for each of them.
inline constexpr double kPapersGpus = 8;
inline constexpr double kPapersJobsADay = 519;

class Demand {
 public:
  void begin(TimeUs now);
  // Counts the jobs that arrived since the last call.
  void observe(const View& view);
  // Jobs have other numbers: those below this one were counted.
  void skip_to(JobIndex arrived) { next_ = arrived; }
  // The length of jobs, as a multiple of the papers': by the mean of the logarithm of their
  // believed times on their smallest size, of the last some hundred arrivals. 1 before any.
  double unit() const;
  // ln of the work that arrives per compute slice and minute, in minutes on the smallest size.
  double load() const;
  // Jobs that arrive for each GPU in a day, since the beginning.
  double jobs_a_day(TimeUs now) const;
  // Arrivals for each GPU since jobs last did not have to wait, and the time since then.
  double busy_arrivals() const { return busy_per_gpu_; }
  TimeUs busy_us(TimeUs now) const { return now - busy_since_us_; }
  // ln of the daily curve a little ahead over an hour back.
  double trend(TimeUs now) const;

 private:
  double curve_at(double hour) const;
  void follow_busy_time(const View& view);

  std::array<double, 24> curve_{};
  TimeUs begin_us_ = 0;
  TimeUs last_us_ = 0;
  JobIndex next_ = 0;        // The first job that was not counted.
  double jobs_per_gpu_ = 0;  // Counted.
  double work_ = 0;          // Per slice and minute, weighted by age.
  double weight_ = 0;        // Of what was seen: towards 1 as the run goes on.
  double busy_per_gpu_ = 0;  // Counted since jobs last did not have to wait.
  TimeUs busy_since_us_ = 0;
  double ln_minutes_ = 0;  // Of jobs; a mean in which earlier ones count less and less.
  double ln_weight_ = 0;
  double gpus_ = 1;
};

}  // namespace smartmig
