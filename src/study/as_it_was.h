// How a trace's jobs fared at the site it comes from: a baseline that is not simulated.
#pragma once

#include <optional>
#include <span>

#include "workload/job.h"

namespace smartmig {

// Over the jobs whose real start and end are known. Tardiness is against the deadlines of the
// table, the same that policies are measured by. The energy of the site is not known.
struct AsItWas {
  std::size_t jobs = 0;
  double avg_wait_s = 0;  // Start - submit.
  double median_wait_s = 0;
  double p95_wait_s = 0;
  double avg_tardiness_s = 0;
  double late_pct = 0;
};

// Over all tables; nothing where no job's real times are known.
std::optional<AsItWas> as_it_was(std::span<const JobTable> tables);

}  // namespace smartmig
