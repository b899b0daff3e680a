#include "study/load.h"

#include <cmath>
#include <limits>

namespace smartmig {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

// GPU-seconds of a board that a job with these times takes on its cheapest slice.
double least_cost_s(const std::array<double, kSizeCount>& seconds, const Fleet& fleet,
                    std::uint8_t board) {
  double least = kNowhere;
  int largest = 1;
  for (const SliceKind& kind : fleet.kinds()) {
    if (kind.board != board || !kind.base) continue;
    largest = std::max<int>(largest, kind.compute);
    const double time_s = seconds[kind.size] * kind.time_factor;
    if (time_s > 0) least = std::min(least, kind.compute * time_s);
  }
  return least / largest;
}

// Jobs a second that all GPUs together serve, where a board's mean cost is given by its index.
template <class MeanCost>
double full_rate_per_s(const Fleet& fleet, const MeanCost& mean_cost_s) {
  std::vector<double> costs_s;
  for (std::size_t board = 0; board < fleet.boards().size(); ++board)
    costs_s.push_back(mean_cost_s(static_cast<std::uint8_t>(board)));
  double rate = 0;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    rate += 1 / costs_s[fleet.board_index(gpu)];
  return rate;
}

}  // namespace

double full_rate_per_hour(std::span<const JobType> types, const Fleet& fleet) {
  return 3600 * full_rate_per_s(fleet, [&](std::uint8_t board) {
           double mean_s = 0;
           for (const JobType& type : types)
             mean_s += type.share * least_cost_s(type.mean_s, fleet, board);
           return mean_s;
         });
}

Result<double> jobs_per_hour(const DescribedWorkload& workload, const Fleet& fleet) {
  if (workload.rate_unit == RateUnit::kJobsPerHour) return workload.rate;
  const double full = full_rate_per_hour(job_types(workload, fleet.largest_size()), fleet);
  if (full == 0) return fail("load: some jobs run on no slice of {}", fleet.name());
  return workload.rate * full;
}

double load_of(const JobTable& table, double seconds, const Fleet& fleet) {
  const double full = full_rate_per_s(fleet, [&](std::uint8_t board) {
    double sum_s = 0;
    for (const Job& job : table.jobs) {
      std::array<double, kSizeCount> times_s{};
      for (std::size_t i = 0; i < times_s.size(); ++i) times_s[i] = to_s(job.time_us[i]);
      sum_s += least_cost_s(times_s, fleet, board);
    }
    return sum_s / static_cast<double>(table.jobs.size());
  });
  return static_cast<double>(table.jobs.size()) / seconds / full;
}

}  // namespace smartmig
