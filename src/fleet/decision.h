// What a policy wants done: stop jobs, change layouts, start jobs, carried out in that order. The
// vectors are cleared and filled again at every instant, so that deciding allocates nothing once
// they have grown.
#pragma once

#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

struct Repartition {
  GpuIndex gpu = 0;
  SlotSet target = 0;
};

// A start may name a slice that is still to be made, or is still being left; it then waits for it.
// A slice to be made can begin where another one is now, so the slot says which of them is meant.
struct Start {
  JobIndex job = 0;
  SliceId slice = 0;
  std::uint8_t slot = 0;  // Index into Board::slots.
};

struct Decision {
  std::vector<JobIndex> stops;
  std::vector<Repartition> repartitions;
  std::vector<Start> starts;
  // The starts are all that is to run: jobs that are not in them stop, jobs that are there already
  // stay as they are. Only under Preemption::kFree.
  bool whole = false;

  void clear() {
    whole = false;
    stops.clear();
    repartitions.clear();
    starts.clear();
  }
};

}  // namespace smartmig
