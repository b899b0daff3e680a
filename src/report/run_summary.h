// One run, for a reader and for a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/metrics.h"
#include "study/as_it_was.h"
#include "study/assumption.h"
#include "workload/losses.h"
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
  bool priced = false;                  // The metrics have a cost,
  bool carbon = false;                  // and carbon.
  std::string currency;                 // Of the cost; "": the tariff does not say.
  std::optional<TimelineRecord> means;  // With records.
  std::optional<TraceReport> trace;     // What of the jobs is real, and what a rule made.
  std::vector<std::string> speeds;      // speed_assumptions().
  std::vector<std::string> assumed;     // What else of the boards was not measured.
  std::vector<Assumption> assumptions;  // JSON only: all that the result rests on.
  // Both for a file of jobs only.
  std::optional<JobBalance> balance;
  std::optional<AsItWas> as_it_was;
  double wall_s = 0;  // JSON only: the text is the same every time.
};

std::string to_text(const RunSummary& summary);
nlohmann::ordered_json to_json(const RunSummary& summary);

// The baseline of a trace that has start times: "40 jobs really waited 3.1 min (median ...".
std::string as_it_was_text(const AsItWas& was);
nlohmann::ordered_json to_json(const AsItWas& was);
// {"deadlines": "submit + U(2, 6) x the time on 7g", ...}
nlohmann::ordered_json to_json(const std::vector<Assumption>& assumptions);

// A time in the unit a reader would choose: "31.4 s", "2.5 h".
std::string human_time(double seconds);

// What of the fleet's boards, but for their speeds (fleet/speeds.h), is assumed and not measured,
// one line each; for notes under a result.
std::vector<std::string> board_assumptions(const Fleet& fleet);

}  // namespace smartmig
