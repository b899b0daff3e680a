// Traces of other people's clusters. Each reader turns one foreign format into TraceJobs and says
// in a TraceReport what it read, what it left out and why, and what the source really knows.
// Nothing is invented here: workload/fill.h does that. A row that we have no use for is dropped and
// counted; a row that is malformed is an error that names file, line and field.
// docs/formats/traces.md describes the formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "workload/losses.h"

namespace smartmig {

enum class TraceKind : std::uint8_t { kUnknown, kTraining, kInference };

// Invariants: submit_us >= 0, duration_us > 0, 0 < gpu_fraction <= 1, gpu_count >= 1.
struct TraceJob {
  std::string id;
  TimeUs submit_us = 0;
  TimeUs duration_us = 0;     // Observed, on what it asked for.
  double gpu_fraction = 1;    // Of each of its GPUs.
  double asked_fraction = 0;  // What its user asked for of each GPU; 0: not known.
  std::int32_t gpu_count = 1;
  TraceKind kind = TraceKind::kUnknown;
  std::int32_t memory_mib = 0;  // On the GPU; 0: not known.
  TimeUs start_us = -1;         // When it really started, on the clock of submit_us; -1: not known.
  TimeUs deadline_us = -1;      // -1: not known.
  TimeUs estimate_us = 0;       // What its user believed of duration_us; 0: not known.
  std::string label;            // What the source calls this sort of job: queue, partition, class.
  // Who submitted it and where to; "" where the source does not say.
  std::string user, account, partition;

  double gpu_hours() const;
};

struct TraceReport {
  std::string format;
  std::size_t rows_read = 0;  // Data rows, without headers and blank lines.
  Amount kept;
  Losses dropped;
  std::vector<std::string> real;         // What the source has.
  std::vector<std::string> synthesised;  // What a rule of fill.h added.
  std::vector<std::string> notes;        // What to mind when reading the numbers.
  bool hour_known = false;  // submit_us is counted from a midnight of the source's clock.

  // Leaves out one row, which `job` is as far as it was read.
  void drop(LossReason reason, const TraceJob& job);
};

// What a reader makes of a row: nothing keeps it.
using Dropped = std::optional<LossReason>;

// Jobs are sorted by submit_us, and no two have one id.
struct Trace {
  std::vector<TraceJob> jobs;
  TraceReport report;
};

enum class TraceFormat : std::uint8_t { kJobTable, kCsv, kOpenb, kSwf, kSacct };
// "jobs", "csv", "openb", "swf", "sacct"; the error suggests the nearest.
Result<TraceFormat> parse_trace_format(std::string_view word);
std::string_view to_string(TraceFormat format);

// By the first line. A job table that lacks a column is still told from the rest, so that its own
// reader can name the column.
Result<TraceFormat> detect_format(std::string_view text, const std::string& name);

// `procs_per_gpu`: SWF counts processors; nothing takes it from the file's header, else 1.
Result<Trace> parse_trace_csv(std::string_view text, const std::string& name);
Result<Trace> parse_trace_openb(std::string_view text, const std::string& name);
Result<Trace> parse_trace_swf(std::string_view text, const std::string& name,
                              std::optional<double> procs_per_gpu);
Result<Trace> parse_trace_sacct(std::string_view text, const std::string& name);

// What every reader ends with: sorts, makes ids unique (the second "7" becomes "7#2"), fills in the
// report. The error: no job is left.
Result<Trace> finish_trace(Trace trace, const std::string& name);

// A trace's GPUs of one job are bounded, as a rule may turn each into a job of its own.
inline constexpr std::int32_t kMaxGpusOfJob = 65536;

}  // namespace smartmig
