// How far a job is from being twice as fast on twice the slice.
#pragma once

#include <array>
#include <optional>

#include "workload/job.h"

namespace smartmig {

// SMART-MIG's score: the slope of the least-squares line through the speeds on 1, 2, 3, 4 and 7
// compute slices, over the speed on 1. 1: linear; 0: no faster anywhere. Nothing where a size has
// no speed.
std::optional<double> sublinearity(const std::array<double, kSizeCount>& speed);
std::optional<double> sublinearity(const Job& job);

}  // namespace smartmig
