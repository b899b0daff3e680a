// Load: how fast jobs arrive, as a multiple of how fast a fleet could serve them at best.
//
// On the size of slice on which a job takes the least share of a GPU times its run time, it costs
// that many GPU-seconds of the board; the share of a slice is its compute slices over those of the
// board's largest profile. If every GPU worked at this rate all the time, the fleet would serve
//   sum over GPUs of 1 / (mean cost of a job on that board)
// jobs a second, and the load is the arrival rate over this one. Above 1 no policy can keep up, and
// below 1 one that wastes nothing can.
#pragma once

#include "fleet/fleet.h"
#include "workload/described.h"

namespace smartmig {

// Jobs that the fleet could serve in an hour at load 1; 0 where no board runs any.
double full_rate_per_hour(std::span<const JobType> types, const Fleet& fleet);
// How fast the jobs of a described workload arrive on this fleet. The error: none of them runs.
Result<double> jobs_per_hour(const DescribedWorkload& workload, const Fleet& fleet);

// The load of a table whose jobs arrive within `seconds`; infinite where some fit no board.
double load_of(const JobTable& table, double seconds, const Fleet& fleet);

}  // namespace smartmig
