// The published bounds: every job is replaced by a linear one that would be as fast on a whole GPU
// as its 1g slice times seven. They ignore that speeds are sublinear, so they are loose; the
// certified bound (bound/bound.h) does not.
#pragma once

#include "bound/problem.h"

namespace smartmig {

// Work at full power, the rest of the least makespan idle. Exact for fleets of one board; for mixed
// ones each board's idle power and the least watts of any board for a compute slice.
double linearised_energy_j(const BoundInput& input);

}  // namespace smartmig
