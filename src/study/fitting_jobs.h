// Which jobs of a file a fleet can run at all.
#pragma once

#include <span>

#include "fleet/fleet.h"
#include "workload/losses.h"

namespace smartmig {

// The jobs that some slice of the fleet could run, with their ids. The nominal length and the
// window of a trace stay the table's: what a fleet cannot run does not change for how long its
// boards are charged.
JobTable fitting_jobs(const JobTable& table, const Fleet& fleet);

// How much fits and how much does not, by what the jobs lack; nothing is dropped. `sources` has an
// entry for each job of the table.
JobBalance balance_of(const JobTable& table, std::span<const JobSource> sources,
                      const Fleet& fleet);

// Jobs that are late on the fastest slice of the fleet even if they start when they come. All of
// them must fit one.
std::size_t count_late_at_once(const JobTable& table, const Fleet& fleet);

}  // namespace smartmig
