// `miso`: jobs are spread over the GPUs and stay there; each GPU has the layout that gives its jobs
// the most speed (docs/model/semantics.md; after Li and others, MISO, SoCC 2022).
#pragma once

#include <memory>

#include "policy/policy.h"

namespace smartmig {

// `profile_us`: how long a new job runs on an equal share of its GPU before the layout is chosen.
std::unique_ptr<Partitioner> make_miso(const Fleet& fleet, TimeUs profile_us);

}  // namespace smartmig
