#include "study/split_days.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

JobTable table_of(std::initializer_list<TimeUs> submits) {
  JobTable table;
  for (const TimeUs submit : submits) table.jobs.emplace_back().submit_us = submit;
  table.nominal_days = 9;
  return table;
}

TEST(SplitDays, CutsAtMidnightAndKeepsTheClock) {
  const JobTable table = table_of({5, kDayUs - 1, kDayUs, 3 * kDayUs + 7});
  const auto days = split_days(table);
  ASSERT_EQ(days.size(), 3u);  // The third day has no job.
  EXPECT_EQ(days[0].jobs.size(), 2u);
  EXPECT_EQ(days[1].jobs.size(), 1u);
  EXPECT_EQ(days[1].jobs[0].submit_us, kDayUs);
  EXPECT_EQ(days[2].jobs[0].submit_us, 3 * kDayUs + 7);
  for (const JobTable& day : days) EXPECT_EQ(day.nominal_days, 1);
}

TEST(SplitDays, JobsKeepTheirNames) {
  JobTable named = table_of({0, kDayUs});
  named.ids.push_back("a");
  named.ids.push_back("b");
  EXPECT_EQ(split_days(named)[1].id(0), "b");
  EXPECT_EQ(split_days(table_of({0, kDayUs}))[1].id(0), "1");
}

TEST(SplitDays, EachPieceIsATraceFromItsOwnFirstToItsOwnLastSubmit) {
  JobTable table;
  for (const TimeUs at : {kHourUs, 5 * kHourUs, kDayUs + 2 * kHourUs}) {
    Job job;
    job.submit_us = at;
    table.jobs.push_back(job);
  }
  const std::vector<JobTable> days = split_days(table);
  ASSERT_EQ(days.size(), 2u);
  EXPECT_EQ(days[0].trace->first_submit_us, kHourUs);
  EXPECT_EQ(days[0].trace->last_submit_us, 5 * kHourUs);
  EXPECT_EQ(days[1].trace->span_us(), 0);
}

}  // namespace
}  // namespace smartmig
