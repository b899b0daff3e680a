// The page that Prometheus reads (text format 0.0.4). Labels are boards, profiles, states and GPUs,
// never jobs: their number would grow without bound.
#pragma once

#include <string>

#include "control/controller.h"

namespace smartmig {

// GPUs from `most_gpus` on have no series of their own; smartmig_gpus_left_out counts them.
std::string metrics_page(const FleetView& fleet, const Counters& counters, bool ready,
                         int most_gpus);

}  // namespace smartmig
