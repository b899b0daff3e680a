// Policies to stand beside: the published fixed layouts, and what `compare` shows when no policy is
// named.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// SMART-MIG's static choice for 8 A100-40GB, its layouts 1,1,2,3,3,5,5,10.
inline constexpr const char* kPublishedLayouts = "7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1";
bool is_published_fleet(const Fleet& fleet);

// The one to compare with first.
std::vector<std::string> default_policies(const Fleet& fleet);
// For one A100-40GB at about rate 2.5: first the best fixed layout and the best two layouts of a
// day, both found by search on other days than a report's.
std::vector<std::string> one_gpu_policies();

}  // namespace smartmig
