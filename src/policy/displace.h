// Displacement under `--preemption checkpoint`: a waiting job that would be late may push out a
// preemptible one where the sum of both jobs' tardiness falls (docs/model/semantics.md).
#pragma once

#include "fleet/decision.h"
#include "fleet/view.h"

namespace smartmig {

// Adds the stops, and the starts that wait for the slices. Looks at nothing where no preemptible
// job runs.
void displace(View& view, Decision& decision);

}  // namespace smartmig
