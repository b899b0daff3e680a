#include "control/day_comparison.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// A day in which each policy draws so much power and is late by so much on average.
struct Pace {
  double watts = 0;
  double jobs_per_h = 0;
  double late_s = 0;  // Each job.
};

class Days {
 public:
  void pass(double hours, const Pace& own, const Pace& other) {
    for (double passed = 0; passed < hours; passed += .25) {
      now_ += kDaySampleUs;
      add(own, own_);
      add(other, other_);
      ASSERT_TRUE(days.wants(now_));
      days.take(now_, own_, other_);
      ASSERT_FALSE(days.wants(now_ + kDaySampleUs - 1));
    }
  }
  bool alarm() const { return days.last_day() && days.last_day()->other_is_better; }

  DayComparison days{2e-7, 8};

 private:
  static void add(const Pace& pace, PolicySums& sums) {
    sums.energy_j += pace.watts * 900;
    sums.done += static_cast<std::int64_t>(pace.jobs_per_h / 4);
    sums.tardiness_s += pace.late_s * pace.jobs_per_h / 4;
  }
  TimeUs now_ = 0;
  PolicySums own_, other_;
};

constexpr Pace kGood{1000, 8, 60}, kBad{1000, 8, 600};

TEST(DayComparison, SaysNothingBeforeADayHasPassed) {
  Days days;
  days.pass(23.75, kBad, kGood);
  EXPECT_FALSE(days.days.last_day().has_value());
  days.pass(1, kBad, kGood);
  ASSERT_TRUE(days.days.last_day().has_value());
  EXPECT_TRUE(days.alarm());
}

TEST(DayComparison, WeighsEnergyAndTardinessAsEtDoes) {
  Days days;
  days.pass(30, kGood, kBad);
  ASSERT_TRUE(days.days.last_day().has_value());
  // (2e-7 * 1,000 W * 1,440 min + 1 min) / (1 + 2e-7), on 8 GPUs and a day.
  EXPECT_NEAR(days.days.last_day()->own_et, (2e-7 * 1'440'000 + 1) / (1 + 2e-7), 1e-9);
  EXPECT_NEAR(days.days.last_day()->other_et, (2e-7 * 1'440'000 + 10) / (1 + 2e-7), 1e-9);
  EXPECT_FALSE(days.alarm());
  EXPECT_EQ(days.days.last_day()->own_done, 8 * 24);
}

TEST(DayComparison, ComesUpAndGoesAwayWithTheLastDay) {
  Days days;
  days.pass(48, kGood, kBad);
  EXPECT_FALSE(days.alarm());
  days.pass(24, kBad, kGood);
  EXPECT_TRUE(days.alarm());
  days.pass(48, kGood, kBad);
  EXPECT_FALSE(days.alarm());
}

TEST(DayComparison, IsAlarmedByEnergyAlone) {
  Days days;
  days.pass(30, {3e6, 8, 60}, {1e6, 8, 60});
  EXPECT_TRUE(days.alarm());
}

TEST(DayComparison, NeedsMoreThanASmallDifference) {
  Days days;
  days.pass(30, {1000, 8, 100}, {1000, 8, 98});
  ASSERT_TRUE(days.days.last_day().has_value());
  EXPECT_LT(days.days.last_day()->other_et, days.days.last_day()->own_et);
  EXPECT_FALSE(days.alarm());
}

TEST(DayComparison, NeedsEnoughJobsOfBoth) {
  Days days;
  days.pass(40, kBad, {1000, 0, 0});
  EXPECT_FALSE(days.days.last_day().has_value());
  Days fewer;  // Better on the half of the jobs that it does.
  fewer.pass(40, {1000, 16, 600}, {1000, 8, 60});
  ASSERT_TRUE(fewer.days.last_day().has_value());
  EXPECT_FALSE(fewer.alarm());
}

}  // namespace
}  // namespace smartmig
