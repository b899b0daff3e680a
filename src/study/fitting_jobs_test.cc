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

TEST(FittingJobs, SaysWhatTheOthersLack) {
  JobTable table;
  for (const std::int32_t memory_mib : {0, 100'000, 30'000}) {
    Job job;
    job.time_us.fill(1);
    job.memory_mib = memory_mib;
    table.jobs.push_back(job);
  }
  Job none;
  none.time_us.fill(0);
  table.jobs.push_back(none);
  const std::vector<JobSource> sources = {{1, true}, {2, true}, {4, true}, {8, false}};
  const JobBalance balance = balance_of(table, sources, *Fleet::parse("1xA100-40GB"));
  EXPECT_EQ(balance.kept.rows, 2u);
  EXPECT_EQ(balance.kept.jobs, 2u);
  EXPECT_DOUBLE_EQ(balance.kept.gpu_hours, 5);
  EXPECT_TRUE(balance.dropped.empty());
  const Losses& unfit = balance.unfit;
  EXPECT_EQ(unfit.of(LossReason::kNoMemory).jobs, 1u);
  EXPECT_DOUBLE_EQ(unfit.of(LossReason::kNoMemory).gpu_hours, 2);
  EXPECT_EQ(unfit.of(LossReason::kNoSize).jobs, 1u);
  EXPECT_EQ(unfit.of(LossReason::kNoSize).rows, 0u);
  EXPECT_DOUBLE_EQ(unfit.total().gpu_hours, 10);
}

TEST(FittingJobs, CountsDeadlinesThatAreShorterThanAnyRun) {
  JobTable table;
  for (const TimeUs slack : {9, 10, 11}) {
    Job job;
    job.submit_us = 100;
    job.deadline_us = 100 + slack;
    job.time_us = {70, 35, 24, 18, 10};
    table.jobs.push_back(job);
  }
  EXPECT_EQ(count_late_at_once(table, *Fleet::parse("1xA100-40GB")), 1u);
}

TEST(FittingJobs, WhatIsLeftOutDoesNotChangeTheWindowOfTheTrace) {
  const Fleet fleet = *Fleet::parse("A30");
  JobTable table;
  table.jobs.resize(3);
  for (std::size_t j = 0; j < 3; ++j) {
    table.jobs[j].submit_us = static_cast<TimeUs>(j) * kHourUs;
    table.jobs[j].time_us.fill(kMinuteUs);
    table.jobs[j].memory_mib = j == 1 ? 1000 : 1'000'000;
  }
  table.trace = TraceWindow{0, 2 * kHourUs};
  const JobTable fitting = fitting_jobs(table, fleet);
  ASSERT_EQ(fitting.jobs.size(), 1u);
  EXPECT_EQ(fitting.begin_us(), 0);
  EXPECT_EQ(fitting.trace->last_submit_us, 2 * kHourUs);
}

}  // namespace
}  // namespace smartmig
