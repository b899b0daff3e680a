// The published bound on tardiness: the linearised jobs on whole GPUs, time cut into steps, how
// much of each job is done in each step, and an indicator of completion for each job and step.
// Solved by Cbc; for a few dozen jobs. Ends are counted at the beginning of the step in which a job
// ends, so the value is at most one step below the continuous optimum of the linearised jobs.
#pragma once

#include "bound/problem.h"

namespace smartmig {

struct ProgramOptions {
  double step_s = 0;    // 0: so that there are about 60 steps.
  double limit_s = 20;  // Of Cbc's time.
  double gap = 0.05;    // Cbc may stop when its bound is this close to its best schedule.
  std::size_t most_jobs = 60;
};

struct ProgramBound {
  bool tried = false;          // Else there were too many jobs or steps.
  bool solved = false;         // To the gap, in time.
  double avg_tardiness_s = 0;  // Cbc's proven bound if it was solved, else 0.
  double proven_s = 0;         // What Cbc has proven of it, solved or not.
  double step_s = 0;           // The stated error.
};

ProgramBound solve_tardiness_program(const BoundInput& input, const ProgramOptions& options);

}  // namespace smartmig
