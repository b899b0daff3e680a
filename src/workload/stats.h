// The sanity report: what is in a workload, to look at before trusting a simulation of it.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workload/job.h"
#include "workload/trace.h"

namespace smartmig {

// Of `values`; linear between the two nearest ranks.
struct Percentiles {
  std::size_t count = 0;
  double mean = 0;
  double min = 0, p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0, max = 0;
};
Percentiles percentiles(std::vector<double> values);

// Jobs by slice size: index as kSizes, and last those that no size will do for.
using BySize = std::array<std::size_t, kSizeCount + 1>;

struct WorkloadStats {
  std::size_t jobs = 0;
  std::size_t training = 0;
  double first_submit_s = 0;
  double span_s = 0;      // From the first submit to the last.
  Percentiles time_7g_s;  // On the largest size it runs on where there is no 7g.
  Percentiles interarrival_s;
  Percentiles slack_s;  // deadline - submit - that time; negative: late from the start.
  std::array<double, 24> by_hour{};    // Submits in each hour of the day; mean 1.
  BySize smallest_that_runs{};         // By the times and the memory of A100-40GB slices.
  BySize smallest_on_time{};           // Ends before its deadline if it starts when it comes.
  std::optional<double> sublinearity;  // Mean score (sublinearity.h) of the jobs that have one.
  double load_gpus =
      0;  // Time on 7g a second of the span: GPUs it would keep busy without slices. 0: no span.
};
WorkloadStats measure(const JobTable& table);

// What the jobs of a trace asked for, before any rule touched them.
struct RequestStats {
  std::size_t jobs = 0;
  Percentiles duration_s;
  double load_gpus = 0;  // GPU-seconds asked for a second of the span.
  // Jobs that asked for less than one GPU, by the smallest slice below a whole GPU with that share
  // of the compute slices (1g, 2g, 3g, 4g); [4] stays 0, and the last counts those that ask for
  // more than a 4g has.
  BySize fractional{};
  std::size_t whole = 0;    // One whole GPU.
  std::size_t several = 0;  // More than one.
};
RequestStats measure(const Trace& trace);

// Everything a report can tell about one file; only what is there is printed.
struct SanityReport {
  std::string source;  // File, or the name of a generator.
  std::optional<TraceReport> trace;
  std::optional<RequestStats> requests;
  WorkloadStats stats;
};
std::string to_text(const SanityReport& report);
nlohmann::ordered_json to_json(const SanityReport& report);

}  // namespace smartmig
