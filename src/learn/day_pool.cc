#include "learn/day_pool.h"

#include <algorithm>

namespace smartmig {

DayPool::DayPool(const DayPoolOptions& options) {
  SM_CHECK(options.days > 0 && !options.rates.empty());
  for (std::size_t i = 0; i < options.days; ++i) {
    GeneratorOptions day = options.workload;
    day.rate = options.rates[i % options.rates.size()];
    day.seed = options.seed;
    day.day = kTrainingDays + i;
    days_.push_back(generate(day));
  }
}

std::size_t DayPool::most_jobs() const {
  std::size_t most = 0;
  for (const JobTable& day : days_) most = std::max(most, day.jobs.size());
  return most;
}

}  // namespace smartmig
