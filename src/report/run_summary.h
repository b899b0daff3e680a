// One run, for a reader and for a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/metrics.h"
#include "workload/trace.h"

namespace smartmig {

struct RunSummary {
  std::string policy;
  std::string workload;  // "paper, rate 20, 1 day", or a file.
  std::string fleet;
  std::string costs;
  std::string preemption;
  std::uint64_t seed = 1;
  double energy_weight = 2e-7;
  std::size_t gpu_events = 0;
  Metrics metrics;
  bool priced = false;                   // The metrics have a cost,
  bool carbon = false;                   // and carbon.
  std::optional<TimelineRecord> means;   // With records.
  std::optional<TraceReport> trace;      // What of the jobs is real, and what a rule made.
  std::vector<std::string> assumptions;  // What of the boards nobody measured.
  double wall_s = 0;                     // JSON only: the text is the same every time.
};

std::string to_text(const RunSummary& summary);
nlohmann::ordered_json to_json(const RunSummary& summary);

// A time in the unit a reader would choose: "31.4 s", "2.5 h".
std::string human_time(double seconds);

// What of the fleet's boards is assumed and not measured, one line each; for notes under a result.
std::vector<std::string> board_assumptions(const Fleet& fleet);

}  // namespace smartmig
