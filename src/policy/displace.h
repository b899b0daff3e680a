// Displacement under `--preemption checkpoint`: a waiting job that would be late may push out a
// preemptible one where the sum of both jobs' tardiness falls (docs/model/semantics.md).
#pragma once

#include <vector>

#include "fleet/decision.h"
#include "fleet/view.h"

namespace smartmig {

// Room to work in, kept from instant to instant so that deciding allocates nothing.
struct DisplacementRoom {
  struct Victim {
    SliceId slice = kNone;
    JobIndex job = kNone;
    KindIndex kind = kNoKind;
    TimeUs save_us = 0;
    TimeUs overhead_us = 0;       // Start and restore, where it runs again.
    TimeUs remaining_us = 0;      // On its slice.
    TimeUs late_us = 0;           // If it stays.
    TimeUs end_elsewhere_us = 0;  // If it goes to a free slice after its save; kNever: none is.
  };
  std::vector<Victim> victims;
  std::vector<SliceId> given_away;
  std::vector<JobIndex> placed;
};

// Adds the stops, and the starts that wait for the slices. Looks at nothing where no preemptible
// job runs or none waits.
void displace(const View& view, DisplacementRoom& room, Decision& decision);

}  // namespace smartmig
