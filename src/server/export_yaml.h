// The fleet's layouts in the form that NVIDIA's mig-parted applies: one configuration `smartmig`,
// GPUs of the same slices together, by index.
#pragma once

#include <string>

#include "control/controller.h"

namespace smartmig {

std::string export_yaml(const FleetView& fleet);

}  // namespace smartmig
