// A stretch of a trace, as a trace of its own.
#pragma once

#include "workload/trace.h"

namespace smartmig {

struct TraceStretch {
  TimeUs begin_us = 0;  // On the clock of the submit times.
  TimeUs length_us = 0;
};

// The jobs that are submitted in [begin, begin + length), at most `max_jobs` of them; what the
// trace's report says stays as it is. There may be none.
Trace cut_window(const Trace& trace, const TraceStretch& stretch, std::size_t max_jobs);

}  // namespace smartmig
