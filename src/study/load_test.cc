#include "study/load.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

DescribedWorkload workload_of(const std::string& speeds, double load) {
  DescribedWorkload workload;
  workload.sizes.law = SizeLaw::kConstant;
  workload.sizes.mean_s = 60;
  workload.speeds = speeds;
  workload.rate = load;
  return workload;
}
double rate_on(const std::string& fleet, const DescribedWorkload& workload) {
  return jobs_per_hour(workload, *Fleet::parse(fleet)).value();
}

TEST(Load, OfLinearJobsIsWholeGpusInUse) {
  // A minute of a whole GPU each: 60 an hour and GPU.
  EXPECT_NEAR(rate_on("4xA100-40GB", workload_of("linear", 1)), 240, 1e-9);
  EXPECT_NEAR(rate_on("4xA100-40GB", workload_of("linear", .25)), 60, 1e-9);
}

TEST(Load, CountsTheSliceThatTakesLeastOfAGpu) {
  // Flat: a minute on 1g, a seventh of a GPU.
  EXPECT_NEAR(rate_on("1xA100-40GB", workload_of("flat", 1)), 420, 1e-9);
  // By memory: 8 minutes on 1g are 8/7 GPU-minutes, 2 on 3g are 6/7, the least.
  EXPECT_NEAR(rate_on("1xA100-40GB", workload_of("memory-bound", 1)), 60 * 7.0 / 6, 1e-9);
}

TEST(Load, AddsUpTheBoardsOfAMixedFleet) {
  const DescribedWorkload workload = workload_of("linear", 1);
  EXPECT_NEAR(rate_on("2xA100-40GB+3xH100-80GB", workload),
              rate_on("2xA100-40GB", workload) + rate_on("3xH100-80GB", workload), 1e-9);
  EXPECT_GT(rate_on("1xH100-80GB", workload), rate_on("1xA100-40GB", workload));
}

TEST(Load, IsTheSameForATableAsForTheWorkloadItIsDrawnFrom) {
  const DescribedWorkload workload = workload_of("paper", .7);
  const Fleet fleet = *Fleet::parse("3xA100-40GB+2xA30");
  const double per_hour = jobs_per_hour(workload, fleet).value();
  DescribedWorkload long_day = workload;
  long_day.max_jobs = 1'000'000;
  long_day.hours = 24 * 20;
  const JobTable table = generate_described(long_day, {per_hour, fleet.largest_size(), 1, 0});
  EXPECT_NEAR(load_of(table, long_day.hours * 3600, fleet), .7, .02);
}

TEST(Load, GivesJobsPerHourAsTheFileSays) {
  DescribedWorkload workload = workload_of("linear", 33);
  workload.rate_unit = RateUnit::kJobsPerHour;
  EXPECT_EQ(rate_on("4xA100-40GB", workload), 33);
}

}  // namespace
}  // namespace smartmig
