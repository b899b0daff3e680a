// Finds good fixed layouts for a workload: a local search over multisets of layouts on training
// days, by mean ET. It starts from the best of the fleets that are alike throughout, and of the
// lists it is given, and moves one GPU (on large fleets first an eighth of them) at a time from one
// layout to another while that helps. Deterministic on any number of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "study/run_day.h"

namespace smartmig {

struct SearchOptions {
  std::string placer = "cedf";
  std::vector<std::string> starts;  // Lists of layouts to start from as well.
  std::size_t budget = 10000;       // Simulated days, at most.
  std::size_t keep = 3;             // How many of the best to name, and to climb from.
  int threads = 0;
};

struct FoundLayouts {
  std::string layouts;  // As `static:` takes it.
  double train_et = 0;
};

struct SearchResult {
  std::vector<FoundLayouts> best;  // Best first.
  FoundLayouts start;              // The first of `starts`, or the best of the alike.
  std::size_t simulated_days = 0;
  std::size_t candidates = 0;
  bool out_of_budget = false;  // False: no single move helps any more.
};

// Errors: a bad start or placer, a budget too small to begin with, or jobs that run on no choice.
Result<SearchResult> search_static(const RunSettings& settings, std::span<const DayTable> train,
                                   const SearchOptions& options, Progress* progress = nullptr);

}  // namespace smartmig
