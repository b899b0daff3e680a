// One drawn setting of a suite: a fleet, what moves cost, and jobs. Everything is drawn from named
// streams of (seed, number), so that a setting does not depend on how many are drawn.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>

#include "base/result.h"
#include "fleet/costs.h"
#include "study/suite_ranges.h"
#include "workload/described.h"
#include "workload/window.h"

namespace smartmig {

// A trace, and which part of it windows are drawn from.
struct SuiteTrace {
  Trace trace;
  std::string name;    // The file.
  std::string digest;  // SHA-256 of the file, which tells the same name with other jobs apart.
  TimeUs from_us = 0;
  TimeUs to_us = 0;
};

// A window of a trace, and what its jobs lack.
struct TraceJobs {
  TraceStretch window;
  std::size_t max_jobs = 0;
  double load = 0;  // Drawn; the fleet has the least number of GPUs that keeps it.
  std::string speeds;
  double training_share = 0;
  DeadlineRule deadlines;
};

struct SuiteSetting {
  std::uint64_t seed = 1;
  std::uint64_t number = 1;  // From 1.
  std::string fleet;
  std::string costs;  // free | paper | real | kRealWithStart
  double start_s = 0;
  Preemption preemption = Preemption::kFree;
  double estimate_error = 0;
  double energy_weight = 0;
  std::variant<DescribedWorkload, TraceJobs> jobs;

  std::string name() const;        // "1-7": seed and number.
  std::uint64_t run_seed() const;  // Of everything drawn in its runs.
  bool on_trace() const { return std::holds_alternative<TraceJobs>(jobs); }
};

SuiteSetting draw_setting(const SuiteRanges& ranges, std::uint64_t seed, std::uint64_t number);
// The error: the trace has no window with jobs in it and before it.
Result<SuiteSetting> draw_trace_setting(const SuiteRanges& ranges, const SuiteTrace& trace,
                                        std::uint64_t seed, std::uint64_t number);

// The jobs of a window with drawn deadlines, kinds and speeds; `draw` numbers the stream.
Result<JobTable> draw_window_jobs(const SuiteTrace& trace, const TraceJobs& jobs,
                                  const TraceStretch& window, std::uint64_t seed,
                                  std::uint64_t draw);
// The window before, on which fixed layouts are searched for.
TraceStretch earlier_window(const TraceJobs& jobs);

// All of the setting; with `workload` as --workload takes it. Equal texts are equal settings.
nlohmann::ordered_json to_json(const SuiteSetting& setting);
// One line.
std::string describe(const SuiteSetting& setting);

}  // namespace smartmig
