#include <gtest/gtest.h>

#include "policy/situation.h"

namespace smartmig {
namespace {

Job linear_job_due(double minutes_on_1g, double deadline_min = 1e4) {
  const double s = minutes_on_1g * kMinute;
  return make_job({s, s / 2, s / 3, s / 4, s / 7}, deadline_min * kMinute);
}

std::vector<std::string> starts_now(Situation& on) {
  on.partition();
  std::vector<std::string> starts;
  for (const Start& start : on.decision.starts) starts.push_back(on.name(start));
  return starts;
}

TEST(QueuePrices, AJobAloneThatScalesWellGetsTheWholeGpu) {
  Situation on("A100-40GB", "7", {linear_job_due(70, 1)}, "queue-prices", Preemption::kOff,
               Costs::real());
  on.arrive(0, 0);
  EXPECT_EQ(starts_now(on), std::vector<std::string>{"0:7@0"});
}

TEST(QueuePrices, ManyJobsThatDoNotScaleShareTheGpu) {
  Situation on("A100-40GB", "7", std::vector<Job>(20, flat_job(60, 1)), "queue-prices",
               Preemption::kOff, Costs::real());
  on.arrive(0, 19);
  EXPECT_EQ(starts_now(on).size(), 7u);
}

// The short one delays the long one by a minute, the long one the short one by an hour.
TEST(QueuePrices, WhatDelaysOthersLeastComesFirst) {
  const double all = 1;
  Situation on("A100-40GB", "7",
               {make_job({0, 0, 0, 0, 3600}, all), make_job({0, 0, 0, 0, 60}, all)}, "queue-prices",
               Preemption::kOff, Costs::real());
  on.arrive(0, 1);
  ASSERT_EQ(starts_now(on).size(), 1u);
  EXPECT_EQ(on.decision.starts[0].job, 1u);
}

// A short wait for a slice on which the job runs four times as fast pays.
TEST(QueuePrices, AWaitEndsAfterTheTimeThatWasPromised) {
  Situation on("A100-40GB", "4-2-1", {flat_job(2 * kMinute, 1e6), linear_job_due(400, 1)},
               "queue-prices", Preemption::kOff, Costs::real());
  on.run(0, 0, 0);
  on.arrive(1, 1);
  EXPECT_EQ(starts_now(on), std::vector<std::string>{});
  on.state.set_now(to_us(2 * kMinute - 1));
  EXPECT_EQ(starts_now(on), std::vector<std::string>{});
  on.state.set_now(to_us(20 * kMinute));
  EXPECT_EQ(starts_now(on).size(), 1u);
}

// Where a stop costs nothing, what has only just started is left alone.
TEST(QueuePrices, StopsNothingThatHasJustStarted) {
  Job first = linear_job_due(700, 1), second = linear_job_due(70, 1);
  first.preemptible = second.preemptible = Preemptible::kYes;
  for (const double minutes : {0.0, 60.0}) {
    Situation on("A100-40GB", "7", {first, second}, "queue-prices", Preemption::kCheckpoint,
                 Costs::paper());
    on.run(0, 0, 0);
    on.arrive(1, 1);
    on.state.set_now(to_us(minutes * kMinute) + 1);
    on.partition();
    EXPECT_EQ(on.decision.stops.size(), minutes == 0 ? 0u : 1u) << minutes;
  }
}

}  // namespace
}  // namespace smartmig
