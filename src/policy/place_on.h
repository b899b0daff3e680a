// Placement of waiting jobs on some named slices, for GPUs whose layout the policy must not change.
#pragma once

#include <span>
#include <vector>

#include "fleet/view.h"

namespace smartmig {

// Gives ready jobs, in the order of their queues, these free slices: the smallest on which the job
// ends on time, else the one on which it ends first; ties: the lower index. Marks them as taken.
void place_on(View& view, std::span<const SliceId> free_slices, std::vector<Start>& starts);

}  // namespace smartmig
