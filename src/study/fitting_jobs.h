#pragma once

#include "fleet/fleet.h"

namespace smartmig {

// The jobs that some slice of the fleet could run, with their ids; their number less says how many
// there are not. Nominal length stays the table's.
JobTable fitting_jobs(const JobTable& table, const Fleet& fleet);

}  // namespace smartmig
