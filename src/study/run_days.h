// Several policies on a stretch of days, each day made once for all of them. What studies of many
// days are built on; the result is the same on any number of threads.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/progress.h"
#include "study/run_day.h"

namespace smartmig {

// Called for each run that has ended, from several threads and in any order.
using CompareWatch = std::function<void(std::size_t policy, std::size_t day, const Engine& engine)>;

struct DaysToRun {
  std::size_t first = 0;
  std::size_t count = 0;
  DaySource source;
  int threads = 0;
  Progress* progress = nullptr;  // Counts the runs.
  CompareWatch watch;
  bool all = false;  // False: runs after one that cannot be done may be left out.
};

struct DayRun {
  Metrics metrics;
  std::optional<Error> error;  // Names policy and day.
};

// Run (day - first) * policies + policy. At most one more day than there are threads is held at a
// time.
std::vector<DayRun> run_days(const RunSettings& settings, std::span<const Policy> policies,
                             const DaysToRun& days);

}  // namespace smartmig
