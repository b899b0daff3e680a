// A GPU fails, or returns (docs/formats/gpu-events.md).
#pragma once

#include "base/units.h"
#include "fleet/fleet.h"

namespace smartmig {

struct GpuEvent {
  TimeUs at_us = 0;
  GpuIndex gpu = 0;
  bool fail = true;  // false: the GPU returns.
};

}  // namespace smartmig
