#include "workload/window.h"

#include <algorithm>

namespace smartmig {

Trace cut_window(const Trace& trace, const TraceStretch& stretch, std::size_t max_jobs) {
  const auto first =
      std::ranges::lower_bound(trace.jobs, stretch.begin_us, {}, &TraceJob::submit_us);
  const auto end = std::ranges::lower_bound(trace.jobs, stretch.begin_us + stretch.length_us, {},
                                            &TraceJob::submit_us);
  const auto count = std::min(end - first, static_cast<std::ptrdiff_t>(max_jobs));
  Trace window;
  window.jobs.assign(first, first + count);
  window.report = trace.report;
  return window;
}

}  // namespace smartmig
