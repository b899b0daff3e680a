#include "study/as_it_was.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(AsItWas, MeasuresWhatTheTraceSaysAgainstTheSameDeadlines) {
  std::vector<JobTable> tables(1);
  JobTable& table = tables.front();
  EXPECT_FALSE(as_it_was(tables));
  for (int i = 0; i < 3; ++i) {
    Job job;
    job.submit_us = i * kMinuteUs;
    job.deadline_us = job.submit_us + 10 * kMinuteUs;
    table.jobs.push_back(job);
  }
  EXPECT_FALSE(as_it_was(tables));
  // Waits of 0 and 6 minutes; ends of 5 and 11 minutes after the submit; of one nothing is known.
  table.ran_at = {{0, 5 * kMinuteUs}, {7 * kMinuteUs, 12 * kMinuteUs}, {}};
  const auto was = as_it_was(tables);
  ASSERT_TRUE(was);
  EXPECT_EQ(was->jobs, 2u);
  EXPECT_DOUBLE_EQ(was->avg_wait_s, 180);
  EXPECT_DOUBLE_EQ(was->median_wait_s, 180);
  EXPECT_DOUBLE_EQ(was->avg_tardiness_s, 30);
  EXPECT_DOUBLE_EQ(was->late_pct, 50);

  JobTable next_day;  // Without times.
  next_day.jobs.resize(1);
  tables.push_back(next_day);
  tables.push_back(tables.front());
  EXPECT_EQ(as_it_was(tables)->jobs, 4u);
  EXPECT_DOUBLE_EQ(as_it_was(tables)->avg_wait_s, 180);
}

}  // namespace
}  // namespace smartmig
