// The search for placements of a multiset. Private to this room; layout.h has what others use.
#pragma once

#include <optional>
#include <span>

#include "mig/board.h"

namespace smartmig {

// The canonical placement of counts[p] slices of each profile p, at most 64 in all, without
// conflicts; nothing where there is none. Counts and engines are not looked at.
std::optional<SlotSet> first_placement(const Board& board, std::span<const int> counts);

}  // namespace smartmig
