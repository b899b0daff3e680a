// Finds the sizes that jobs of each speed profile should ask for under `on-demand`, by mean ET on
// training days: from the best of the sizes that are alike for all profiles it changes one profile
// at a time while that helps. Deterministic on any number of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "study/run_day.h"

namespace smartmig {

struct OnDemandSearchOptions {
  std::string rules;           // What follows the sizes in the policy's word: "", "pack,strict".
  std::size_t budget = 10000;  // Simulated days, at most.
  std::size_t keep = 3;        // How many of the best to name.
  int threads = 0;
};

struct FoundRequests {
  std::string policy;  // "on-demand:bert-inference=2+..."
  double train_et = 0;
};

struct OnDemandSearchResult {
  std::vector<FoundRequests> best;  // Best first.
  FoundRequests whole;              // Every job asks for the largest size.
  std::size_t simulated_days = 0;
  std::size_t candidates = 0;
  bool out_of_budget = false;  // False: no change of one profile helps any more.
};

// Errors: bad rules, jobs without speed profiles, a budget too small to begin with, or jobs that
// never run.
Result<OnDemandSearchResult> search_on_demand(const RunSettings& settings,
                                              std::span<const DayTable> train,
                                              const OnDemandSearchOptions& options,
                                              Progress* progress = nullptr);

}  // namespace smartmig
