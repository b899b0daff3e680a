// What the targets of the trace readers share.
#pragma once

#include "check.h"
#include "workload/fill.h"
#include "workload/job_table.h"

namespace smartmig {

// A trace that was read keeps its invariants, and what the rules make of it is a job table that
// reads back.
inline void check_trace(const Result<Trace>& trace) {
  check_error(trace);
  if (!trace) return;
  std::size_t dropped = 0;
  std::size_t gpus = 0;
  dropped = trace->report.dropped.total().rows;
  SM_CHECK(trace->report.kept.rows + dropped == trace->report.rows_read);
  TimeUs before = 0;
  for (const TraceJob& job : trace->jobs) {
    SM_CHECK(!job.id.empty() && job.submit_us >= before && job.duration_us > 0);
    SM_CHECK(job.gpu_fraction > 0 && job.gpu_fraction <= 1 && job.gpu_count >= 1);
    before = job.submit_us;
    gpus += static_cast<std::size_t>(job.gpu_count);
  }
  FillOptions options;
  options.right_size = true;
  // One job for each GPU, as long as that is a table that a target has time for.
  options.multi_gpu = gpus < 1000 ? MultiGpu::kSplit : MultiGpu::kOne;
  const auto filled = fill(*trace, options, "fuzz");
  check_error(filled);
  if (!filled) return;
  const auto again = parse_job_table(format_job_table(filled->table), "again");
  SM_CHECK(again.has_value());
  SM_CHECK(again->jobs.size() == filled->table.jobs.size());
}

}  // namespace smartmig
