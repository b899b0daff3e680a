// By hand; tests/sums_test.cc holds random runs against the reference.
#include "fleet/aggregates.h"

#include <gtest/gtest.h>

#include "fleet/tardiness.h"

namespace smartmig {
namespace {

constexpr TimeUs kMin = kMinuteUs;

class AggregatesTest : public testing::Test {
 protected:
  const BinCounts& counts(Histogram histogram) { return sums_.counts(histogram); }

  Fleet fleet_ = *Fleet::parse("3xA100-40GB");
  Aggregates sums_{fleet_, 4};
};

TEST_F(AggregatesTest, FollowAJobThroughTheBinsOfItsDeadline) {
  sums_.learn_times(0, {60e6, 30e6, 20e6, 15e6, 10e6});
  sums_.add(0, 31 * kMin, 1, 0);
  EXPECT_EQ(counts(Histogram::kToDeadline)[9], 1u);
  sums_.pass_time(kMin);
  EXPECT_EQ(counts(Histogram::kToDeadline)[9], 1u) << "30 minutes are in the bin from 30 on";
  sums_.pass_time(kMin + 1);
  EXPECT_EQ(counts(Histogram::kToDeadline)[8], 1u);
  sums_.pass_time(30 * kMin);
  EXPECT_EQ(counts(Histogram::kToDeadline)[5], 1u) << "several edges at once";
  sums_.pass_time(31 * kMin);
  EXPECT_EQ(counts(Histogram::kToDeadline)[1], 1u) << "the deadline itself is not late";
  sums_.pass_time(500 * kMin);
  EXPECT_EQ(counts(Histogram::kToDeadline)[0], 1u) << "beyond -100 minutes too";
  sums_.remove(0);
  EXPECT_EQ(counts(Histogram::kToDeadline), BinCounts{});
  EXPECT_EQ(sums_.ready(), 0u);
}

TEST_F(AggregatesTest, TakeTheMeanOfTwoSizes) {
  sums_.learn_times(0, {20 * 60e6, 10 * 60e6, 8 * 60e6, 0, 4 * 60e6});
  sums_.add(0, 0, 1, 0);
  EXPECT_EQ(counts(Histogram::kSmall)[7], 1u) << "15 minutes";
  EXPECT_EQ(counts(Histogram::kMedium)[6], 1u) << "8 minutes, on 3g alone";
  EXPECT_EQ(counts(Histogram::kLarge)[5], 1u);
  sums_.set_left(0, 0.5);
  EXPECT_EQ(counts(Histogram::kSmall)[6], 1u) << "7.5 minutes";
  EXPECT_EQ(counts(Histogram::kMedium)[5], 1u);
  EXPECT_EQ(counts(Histogram::kLarge)[5], 1u);
  sums_.learn_times(1, {0, 0, 60e6, 60e6, 60e6});
  sums_.add(1, 0, 1, 0);
  EXPECT_EQ(counts(Histogram::kSmall)[9], 1u) << "it runs on none of them";
}

TEST_F(AggregatesTest, CountGpusByLayout) {
  const LayoutNumbers& numbers = sums_.layouts(0);
  for (GpuIndex gpu = 0; gpu < 3; ++gpu) sums_.set_layout(gpu, numbers.layout(0), true);
  sums_.set_layout(1, numbers.layout(2), true);
  EXPECT_EQ(sums_.gpus_in(0, 0), 2u);
  EXPECT_EQ(sums_.next_gpu(0, 0, 0), 0u);
  EXPECT_EQ(sums_.next_gpu(0, 0, 1), 2u);
  EXPECT_EQ(sums_.next_gpu(0, 0, 3), kNone);
  EXPECT_EQ(sums_.next_gpu(0, 2, 0), 1u);
  sums_.set_layout(1, numbers.layout(2), false);
  EXPECT_EQ(sums_.gpus_in(0, 2), 0u) << "it is down";
  sums_.set_layout(0, 0, true);
  EXPECT_EQ(sums_.gpus_in(0, 0), 1u) << "an empty GPU has no numbered layout";
}

TEST(TardinessMeter, GrowsByOneForEachLateJob) {
  TardinessMeter meter;
  meter.arrive(0, 10);
  meter.arrive(1, 20);
  meter.arrive(2, 100);
  EXPECT_EQ(meter.so_far_us(10), 0);
  EXPECT_EQ(meter.so_far_us(15), 5);
  EXPECT_EQ(meter.so_far_us(30), 20 + 10);
  EXPECT_EQ(meter.late_so_far(30), 2u);
  meter.complete(0, 10, 40);
  meter.complete(2, 100, 40);
  EXPECT_EQ(meter.so_far_us(40), 30 + 20);
  EXPECT_EQ(meter.so_far_us(50), 30 + 30);
  meter.move_deadline(1, 20, 15, 50);
  EXPECT_EQ(meter.so_far_us(50), 30 + 35);
  meter.complete(1, 15, 60);
  EXPECT_EQ(meter.so_far_us(1000), 30 + 45);
  EXPECT_EQ(meter.late_so_far(1000), 2u);
}

}  // namespace
}  // namespace smartmig
