// Counts the allocations of the program it is linked into: counted_allocation.cc replaces the
// global operator new. That file stands alone so that no compiler pairs the replaced new with the
// free inside the replaced delete.
#pragma once

namespace smartmig {

// Allocations since the program began.
long allocations_so_far();

}  // namespace smartmig
