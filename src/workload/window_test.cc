#include "workload/window.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

Trace trace_of_submits(std::initializer_list<double> submits_s) {
  Trace trace;
  for (const double submit_s : submits_s) {
    TraceJob job;
    job.submit_us = to_us(submit_s);
    job.duration_us = kSecondUs;
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST(Window, HoldsTheJobsFromItsBeginToBeforeItsEnd) {
  const Trace trace = trace_of_submits({0, 10, 20, 30, 40});
  const Trace window = cut_window(trace, {to_us(10), to_us(20)}, 100);
  ASSERT_EQ(window.jobs.size(), 2u);
  EXPECT_EQ(window.jobs[0].submit_us, to_us(10));
  EXPECT_EQ(window.jobs[1].submit_us, to_us(20));
  EXPECT_EQ(cut_window(trace, {to_us(10), to_us(20)}, 1).jobs.size(), 1u);
  EXPECT_TRUE(cut_window(trace, {to_us(50), to_us(20)}, 1).jobs.empty());
}

}  // namespace
}  // namespace smartmig
