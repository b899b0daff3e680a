// How late all jobs together are so far: done ones by their end, those in the system by now. Exact,
// and kept as events happen: it grows at the rate of the number of late jobs, so that what a
// stretch of time added can be charged to the decisions before it.
//
// Invariants: 1. jobs in the system are in not_late_ or counted in late_; 2. those whose deadline
// lies before the last pass_time() are late.
#pragma once

#include "fleet/job_queue.h"

namespace smartmig {

class TardinessMeter {
 public:
  void restart() {
    not_late_.clear();
    late_ = done_late_ = 0;
    late_deadlines_us_ = done_us_ = 0;
  }
  void arrive(JobIndex job, TimeUs deadline_us) { not_late_.insert({deadline_us, job}); }
  void complete(JobIndex job, TimeUs deadline_us, TimeUs now) {
    leave(job, deadline_us, now);
    if (deadline_us >= now) return;
    done_us_ += static_cast<std::uint64_t>(now - deadline_us);
    ++done_late_;
  }
  void move_deadline(JobIndex job, TimeUs from_us, TimeUs to_us, TimeUs now) {
    leave(job, from_us, now);
    arrive(job, to_us);
  }
  // The sum over jobs of what lies between their deadlines and their ends, or now.
  TimeUs so_far_us(TimeUs now) {
    pass_time(now);
    return static_cast<TimeUs>(done_us_ + late_ * static_cast<std::uint64_t>(now) -
                               late_deadlines_us_);
  }
  // Jobs that ended, or still are, after their deadline.
  std::size_t late_so_far(TimeUs now) {
    pass_time(now);
    return late_ + done_late_;
  }

 private:
  void pass_time(TimeUs now) {
    while (!not_late_.empty()) {
      const JobQueue::Entry first = JobQueue::at(not_late_.begin());
      if (first.key >= now) return;
      not_late_.erase(first);
      ++late_;
      late_deadlines_us_ += static_cast<std::uint64_t>(first.key);
    }
  }
  void leave(JobIndex job, TimeUs deadline_us, TimeUs now) {
    pass_time(now);
    if (deadline_us >= now) {
      not_late_.erase({deadline_us, job});
    } else {
      --late_;
      late_deadlines_us_ -= static_cast<std::uint64_t>(deadline_us);
    }
  }

  JobQueue not_late_;  // By deadline.
  // Unsigned: their sums may pass 2^63 on the way to a difference that does not.
  std::uint64_t late_ = 0;
  std::uint64_t late_deadlines_us_ = 0;
  std::uint64_t done_late_ = 0;
  std::uint64_t done_us_ = 0;
};

}  // namespace smartmig
