// Finds prices that make the bound large: ascent on the concave dual, first with a few long
// stretches of time, then with shorter ones where there is a price. The result is the same on any
// number of threads.
#pragma once

#include <functional>

#include "bound/prices.h"
#include "bound/problem.h"

namespace smartmig {

struct AscentOptions {
  int threads = 0;         // 0: one for each core.
  std::size_t finest = 0;  // Stretches over the span where all of it is priced; 0: by the jobs.
  int rounds = 150;        // Evaluations with the finest stretches.
};

struct Ascent {
  Prices prices;
  double value = 0;  // Of the bound there, to rounding.
  int evaluations = 0;
};

// `on_evaluation`, if any, is called after each with the share of the work done.
Ascent ascend(const RelaxedProblem& problem, const Weights& weights, const AscentOptions& options,
              const std::function<void(double)>& on_evaluation = {});

}  // namespace smartmig
