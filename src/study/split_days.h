#pragma once

#include <vector>

#include "workload/job.h"

namespace smartmig {

// Cuts a table at midnight (a multiple of 24 h of the clock of the submit times). Each piece is a
// separate trace of nominal length 1 day, whose window is from its own first to its own last
// submit; jobs keep their clock and their ids. Days without a job have no piece.
std::vector<JobTable> split_days(const JobTable& table);

}  // namespace smartmig
