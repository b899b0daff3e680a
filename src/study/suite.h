// The suite: policies on drawn settings, each held against the best simple policy of its setting
// (docs/formats/suite.md). The result is the same on any number of threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/simple_policies.h"
#include "study/suite_runs.h"
#include "study/suite_score.h"
#include "study/suite_setting.h"

namespace smartmig {

struct SuiteOptions {
  std::vector<std::string> policies = {"smartmig"};
  // Generated days: as many as bring the interval's half-width under the limit.
  std::size_t min_days = 20;
  std::size_t max_days = 200;
  double half_width_pct = 1.5;
  std::size_t trace_draws = 8;
  StaticSearch search;
  std::size_t bound_days = 3;   // 0: no bound.
  std::size_t bound_gpus = 64;  // Larger fleets have none.
  int threads = 0;
  SuiteRuns::PolicyDigest policy_digest;
};

// One policy in one setting.
struct SuiteRow {
  SuiteSetting setting;
  std::string policy;
  std::string error;      // Why the policy did not run all jobs; the numbers then mean nothing.
  double et = 0;          // Mean over the days.
  std::size_t draws = 0;  // Days, or draws of a trace's window.
  bool at_limit = false;  // The interval was still too wide at max_days.
  std::string chosen_on_even, chosen_on_odd;  // The best simple policies of these days.
  Ratio ratio;
  std::string in_hindsight;
  Ratio hindsight_ratio;
  // The mean of the days' 99th percentiles, and the worst of all days; of the best in hindsight
  // too.
  double p99_wait_s = 0;
  double worst_wait_s = 0;
  double simple_p99_wait_s = 0;
  double simple_worst_wait_s = 0;
  // Certified, on the first days; with the policy's mean ET on the same ones.
  std::optional<double> bound_et;
  std::optional<double> et_on_bound_days;
};

// All policies in one setting, in the order of the options. `trace` is for a setting on a trace.
// Errors: a policy that cannot be made, days that cannot be made, a cache that cannot be written.
Result<std::vector<SuiteRow>> run_suite_setting(const SuiteSetting& setting,
                                                const SuiteTrace* trace,
                                                const SuiteOptions& options,
                                                const SuiteCache& cache);

// What a reader asks first of all settings of a policy.
struct SuiteSummary {
  std::string policy;
  std::size_t settings = 0;   // With a ratio.
  std::size_t failed = 0;     // Without.
  std::size_t within = 0;     // Ratio at most kWithin.
  std::size_t far_above = 0;  // The low end of the interval above kFarAbove.
  double geometric_mean = 0;  // Ratios below kLeastRatio counted as that.
  double worst = 0;           // The largest ratio.

  static constexpr double kWithin = 1.02;
  static constexpr double kFarAbove = 1.08;
  static constexpr double kLeastRatio = 0.70;
};
// By policy, in the order of their first rows.
std::vector<SuiteSummary> summarise(const std::vector<SuiteRow>& rows);

}  // namespace smartmig
