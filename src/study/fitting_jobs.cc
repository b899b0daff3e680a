#include "study/fitting_jobs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace smartmig {

JobTable fitting_jobs(const JobTable& table, const Fleet& fleet) {
  JobTable fitting;
  fitting.nominal_days = table.nominal_days;
  fitting.trace = table.trace;
  for (JobIndex job = 0; job < table.jobs.size(); ++job) {
    if (fleet.kinds_for(table.jobs[job]) == 0) continue;
    fitting.jobs.push_back(table.jobs[job]);
    fitting.ids.push_back(table.id(job));
    if (!table.ran_at.empty()) fitting.ran_at.push_back(table.ran_at[job]);
  }
  return fitting;
}

JobBalance balance_of(const JobTable& table, std::span<const JobSource> sources,
                      const Fleet& fleet) {
  SM_CHECK(sources.size() == table.jobs.size());
  JobBalance balance;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Amount amount = {sources[i].first_of_row ? 1u : 0u, 1, sources[i].gpu_hours};
    Job job = table.jobs[i];
    if (fleet.kinds_for(job) != 0) {
      balance.kept += amount;
      continue;
    }
    job.memory_mib = 0;
    const bool has_size = fleet.kinds_for(job) != 0;
    balance.unfit.add(has_size ? LossReason::kNoMemory : LossReason::kNoSize, amount);
  }
  return balance;
}

std::size_t count_late_at_once(const JobTable& table, const Fleet& fleet) {
  std::size_t count = 0;
  for (const Job& job : table.jobs) {
    double fastest_us = HUGE_VAL;
    for (KindSet kinds = fleet.kinds_for(job); kinds; kinds &= kinds - 1) {
      const auto kind = static_cast<KindIndex>(std::countr_zero(kinds));
      fastest_us = std::min(fastest_us, fleet.full_us(job, kind));
    }
    // A run takes whole microseconds, to the nearest.
    count += static_cast<double>(job.submit_us) + fastest_us >
             static_cast<double>(job.deadline_us) + 0.5;
  }
  return count;
}

}  // namespace smartmig
