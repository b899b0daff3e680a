// Days to learn on, generated once and shared by all environments: making a day costs about as much
// as a few hundred placements. Their numbers start at kTrainingDays, so that no day of a comparison
// is among them, whatever its seed.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/generator.h"

namespace smartmig {

struct DayPoolOptions {
  GeneratorOptions workload;         // Its rate, seed and day are not used.
  std::vector<double> rates = {20};  // Day i of the pool has rates[i % rates.size()].
  std::size_t days = 64;
  std::uint64_t seed = 1;
};

class DayPool {
 public:
  // The workload must pass check_options() at every rate.
  explicit DayPool(const DayPoolOptions& options);

  std::size_t size() const { return days_.size(); }
  const JobTable& day(std::size_t i) const { return days_[i]; }
  std::size_t most_jobs() const;  // Of any day.

 private:
  std::vector<JobTable> days_;
};

}  // namespace smartmig
