// The simple policies that a suite holds others against: rules without parameters, and the best
// fixed layouts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/suite_cache.h"
#include "study/suite_world.h"

namespace smartmig {

// {none, count} x {edf, cedf, shortest-remaining, slowest-on-time, met}, and greedy.
std::vector<std::string> simple_rules();

struct StaticSearch {
  std::size_t train_days = 4;
  std::size_t budget = 300;  // Simulated days for each placer; 0: no search.
  int threads = 0;
};
// static:LAYOUTS/PLACER with the best layouts found on training days, for shortest-remaining and
// for cedf; none where no layouts run all jobs. Errors: training days that cannot be made, a cache
// that cannot be written.
Result<std::vector<std::string>> best_static_policies(const SuiteWorld& world,
                                                      const StaticSearch& search,
                                                      const SuiteCache& cache);

}  // namespace smartmig
