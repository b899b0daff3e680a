// How much of a fleet's free room a slice of a given kind cannot use.
#pragma once

#include <string>
#include <vector>

#include "control/controller.h"

namespace smartmig {

struct Fragmentation {
  std::string board;
  std::string profile;
  // Of the compute slices that no job holds on GPUs that take jobs, the share that lies where no
  // slice of this profile could be made beside the busy ones. 0 where nothing is free.
  double share = 0;
};

// For the base profiles of each board in the fleet.
std::vector<Fragmentation> fragmentation(const FleetView& fleet);

}  // namespace smartmig
