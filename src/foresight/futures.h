// A future to simulate: the jobs of the present, each with a run time drawn from what beliefs
// turned out to be worth, and arrivals like the recent ones. Drawn from a stream of its own, so
// that all that is compared on one future has the same jobs at the same times.
#pragma once

#include "foresight/error_model.h"
#include "foresight/present.h"

namespace smartmig {

struct FutureTerms {
  std::size_t arrivals = 0;       // To draw.
  std::size_t recent_jobs = 400;  // What they are drawn from: so many jobs that arrived last.
};

struct Future {
  JobTable table;  // The jobs of the present, then arrivals in order.
  Standing standing;
};

// `errors` are those of the same View and jobs. `future` keeps its room; the next draws of `random`
// give another one. O(jobs of the present + arrivals).
void draw_future(const View& view, const FleetSample& sample, const Present& present,
                 const FutureTerms& terms, const ErrorModel& errors, Random& random,
                 Future& future);

}  // namespace smartmig
