// What the settings of a suite are drawn from: data/suite.json (docs/formats/suite.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/catalogue.h"

namespace smartmig {

// Uniform, or log-uniform where it spans a factor of ten or more.
struct SuiteRange {
  double low = 0;
  double high = 0;

  bool is_logarithmic() const { return low > 0 && high >= 10 * low; }
  double at(double u) const;  // u in [0, 1).
};

// The cost setting that also draws start_s, the time that a process takes to start.
inline constexpr std::string_view kRealWithStart = "real+start";
// A fleet of two boards.
inline constexpr std::string_view kMixedBoards = "mixed";

struct SuiteRanges {
  SuiteRange gpus;
  std::vector<std::string> boards;  // The last may be kMixedBoards.
  std::vector<std::string> costs;
  SuiteRange start_s;
  std::map<std::string, std::vector<std::string>> preemption;  // What is legal under which costs.
  std::vector<double> estimate_error;
  SuiteRange energy_weight;
  SuiteRange load;
  SuiteRange deadline_factor;  // Deadlines are LOW:HIGH with this LOW,
  double deadline_spread = 1;  // and HIGH so many times LOW.
  SuiteRange training_share;
  std::vector<std::string> speeds;

  struct Generated {
    std::vector<std::string> arrivals;  // "paper", "curve", "flat", "batches".
    SuiteRange batch_mean;
    std::vector<std::string> sizes;
    SuiteRange mean_size_s, lognormal_sigma, pareto_shape, training_factor, stoppable_share;
    double hours = 24;
    int max_jobs = 4000;
  };
  Generated generated;
  struct Windows {
    SuiteRange hours;
    int max_jobs = 4000;
  };
  Windows windows;  // Of a trace.
  std::vector<DiurnalCurve> curves;
};

Result<SuiteRanges> parse_suite_ranges(std::string_view json, const std::string& name);
const SuiteRanges& shipped_suite_ranges();

}  // namespace smartmig
