// The earliest time at which all jobs can be done.
#pragma once

#include <span>
#include <vector>

#include "bound/problem.h"

namespace smartmig {

// A job that needs `work_s` seconds of one machine, in any pieces but on one machine at a time.
struct MachineJob {
  double release_s = 0;
  double work_s = 0;
};

// The papers' linearisation: a job is as fast on a whole GPU as its most efficient slice would be
// on all compute slices of one. Releases are from the first submit. No schedule of the fleet is
// faster than these jobs on as many identical machines.
std::vector<MachineJob> linearise(const BoundInput& input);

// The least makespan of preemptive jobs with release dates (ascending) on identical machines:
// exactly what longest-remaining-first with shared machines reaches. O(n log n).
double least_makespan_s(std::span<const MachineJob> jobs, int machines);

// A time before which no schedule ends: the fastest slice for each job, and for the jobs released
// from some time on what all GPUs together can do. Simple enough to be checked.
double earliest_end_s(const BoundInput& input);

}  // namespace smartmig
