// Layouts in the form that NVIDIA's mig-parted applies: one configuration `smartmig`, GPUs of the
// same slices together, by index.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "mig/board.h"
#include "mig/layout.h"

namespace smartmig {

using SliceCounts = std::map<std::string, int>;  // By the name of the profile.

// The slices of a set of slots of a board.
SliceCounts slice_counts(const Board& board, SlotSet set);

// `gpus` are by index, as the driver numbers them.
std::string mig_parted_yaml(const std::map<std::uint32_t, SliceCounts>& gpus);

}  // namespace smartmig
