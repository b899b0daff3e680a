#include "study/fitting_jobs.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(FittingJobs, LeavesOutWhatNoSliceOfTheFleetCanRun) {
  JobTable table;
  table.nominal_days = 3;
  for (const std::int32_t memory_mib : {0, 100'000, 30'000}) {
    Job job;
    job.time_us.fill(1);
    job.memory_mib = memory_mib;
    table.jobs.push_back(job);
  }
  table.jobs.emplace_back();  // Runs nowhere.
  const JobTable a100 = fitting_jobs(table, *Fleet::parse("1xA100-40GB"));
  ASSERT_EQ(a100.jobs.size(), 2u);
  EXPECT_EQ(a100.id(1), "2");  // Jobs keep their names.
  EXPECT_EQ(a100.nominal_days, 3);
  EXPECT_EQ(fitting_jobs(table, *Fleet::parse("1xA100-40GB+1xH200-141GB")).jobs.size(), 3u);
}

}  // namespace
}  // namespace smartmig
