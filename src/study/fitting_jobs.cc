#include "study/fitting_jobs.h"

namespace smartmig {

JobTable fitting_jobs(const JobTable& table, const Fleet& fleet) {
  JobTable fitting;
  fitting.nominal_days = table.nominal_days;
  for (JobIndex job = 0; job < table.jobs.size(); ++job) {
    if (fleet.kinds_for(table.jobs[job]) == 0) continue;
    fitting.jobs.push_back(table.jobs[job]);
    fitting.ids.push_back(table.id(job));
  }
  return fitting;
}

}  // namespace smartmig
