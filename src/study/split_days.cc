#include "study/split_days.h"

namespace smartmig {

std::vector<JobTable> split_days(const JobTable& table) {
  std::vector<JobTable> days;
  TimeUs present = -1;
  for (JobIndex job = 0; job < table.jobs.size(); ++job) {
    const TimeUs day = table.jobs[job].submit_us / kDayUs;
    if (day != present) {
      present = day;
      days.emplace_back().nominal_days = 1;
    }
    const TimeUs submit_us = table.jobs[job].submit_us;
    if (!days.back().trace) days.back().trace = TraceWindow{submit_us, submit_us};
    days.back().trace->last_submit_us = submit_us;
    days.back().jobs.push_back(table.jobs[job]);
    // A job without a name is called by its place in the whole table, in every piece.
    days.back().ids.push_back(table.id(job));
    if (!table.ran_at.empty()) days.back().ran_at.push_back(table.ran_at[job]);
  }
  return days;
}

}  // namespace smartmig
