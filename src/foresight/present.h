// The present as a simulation can begin with it, made of what a View shows: jobs as they are
// believed to be, slices, runs and operations under way. Of a large fleet a sample
// (fleet_sample.h), with the same share of the jobs that wait.
#pragma once

#include <vector>

#include "base/random.h"
#include "fleet/view.h"
#include "foresight/fleet_sample.h"
#include "sim/standing.h"

namespace smartmig {

struct Present {
  Standing standing;
  std::vector<Job> jobs;     // As believed: those that have arrived and are not done.
  std::vector<double> done;  // How long they have run, in units of what they are believed to take.
  std::vector<JobIndex> numbers;  // In the View.

  void clear() {
    standing.clear();
    jobs.clear();
    done.clear();
    numbers.clear();
  }
};

// `sample` says which GPUs there are. Clears `present` first. O(GPUs + jobs in the system).
void look_at_present(const View& view, const FleetSample& sample, Random& random, Present& present);

}  // namespace smartmig
