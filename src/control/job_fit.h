// Whether a job could ever run on a fleet: a job that fits no slice is refused when it is
// submitted.
#pragma once

#include "control/job_request.h"
#include "fleet/fleet.h"

namespace smartmig {

// Refuses with the field that is in the way, what the job needs and what the largest slice has.
// Slices of every layout count, whatever the fleet is cut into now.
Answer<void> check_fits(const Job& job, const Fleet& fleet);

}  // namespace smartmig
