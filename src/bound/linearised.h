// The published bounds: every job is replaced by a linear one, as fast on a whole GPU as its most
// efficient slice (mostly 1g) would be on all of one. They ignore that speeds are sublinear, so
// they are loose; the certified bound (bound/bound.h) does not.
#pragma once

#include "bound/problem.h"

namespace smartmig {

// Work at full power, the rest of the least makespan idle; on a trace, which charges no board for
// longer than that for sure, the rest of the time from the first to the last submit. Exact for
// fleets of one board; for mixed ones each board's idle power and the least watts of any board for
// a compute slice.
double linearised_energy_j(const BoundInput& input);
// Whether boards are always on and draw what their table says, as the published bound assumes.
bool linearised_energy_applies(const BoundInput& input);

}  // namespace smartmig
