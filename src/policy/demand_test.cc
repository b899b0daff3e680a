#include "policy/demand.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/situation.h"

namespace smartmig {
namespace {

constexpr double kMemoryMin = 45;
// Seven slices get a minute of work each in every minute.
constexpr double kFullSecondsPerMinute = 7 * 60;

// One A100-40GB, at the given minute.
struct Watched : Situation {
  explicit Watched(std::vector<Job> given)
      : Situation("A100-40GB", "7", std::move(given), "none/edf") {
    demand.begin(0);
  }
  double load_at(double minute) {
    state.set_now(to_us(minute * 60));
    demand.observe(view());
    return std::exp(demand.load());
  }
  Demand demand;
};

// A prior of .3 with the weight of .3 stands for what was not seen yet.
double with_prior(double work, double weight) { return (work + 0.09) / (weight + 0.3); }

TEST(Demand, BeginsAtItsPrior) {
  Watched watched({flat_job(60, 1000)});
  EXPECT_NEAR(watched.load_at(0), 0.3, 1e-12);
}

TEST(Demand, ForgetsAtItsTimeConstant) {
  Watched watched({flat_job(kMemoryMin * kFullSecondsPerMinute, 1e6)});
  watched.arrive(0, 0);
  EXPECT_NEAR(watched.load_at(0), with_prior(1, 0), 1e-12);
  for (const double times : {1.0, 2.0, 10.0}) {
    EXPECT_NEAR(watched.load_at(times * kMemoryMin),
                with_prior(std::exp(-times), 1 - std::exp(-times)), 1e-12);
  }
}

TEST(Demand, ForgetsTheSameInOneStepAndInMany) {
  Watched once({flat_job(60'000, 1e6)});
  Watched often({flat_job(60'000, 1e6)});
  for (Watched* watched : {&once, &often}) {
    watched->arrive(0, 0);
    watched->load_at(0);
  }
  for (int minute = 1; minute < 90; ++minute) often.load_at(minute);
  EXPECT_NEAR(often.load_at(90), once.load_at(90), 1e-12);
}

TEST(Demand, FindsTheLoadOfASteadyStream) {
  constexpr JobIndex kMinutes = 600;
  Watched watched(std::vector<Job>(kMinutes, flat_job(0.8 * kFullSecondsPerMinute, 1e6)));
  double load = 0;
  for (JobIndex minute = 0; minute < kMinutes; ++minute) {
    watched.arrive(minute, minute);
    load = watched.load_at(minute);
  }
  // Counted just after an arrival: half a minute's worth more than the mean.
  EXPECT_NEAR(load, with_prior(0.8, 1), 0.8 / kMemoryMin);
}

TEST(Demand, CountsEachJobOnceAndOnTheSmallestSizeItRunsOn) {
  Watched watched({make_job({0, 630, 500, 400, 300}, 1e6)});
  watched.arrive(0, 0);
  const double expected = with_prior(2 * 630 / kFullSecondsPerMinute / kMemoryMin, 0);
  EXPECT_NEAR(watched.load_at(0), expected, 1e-12);
  EXPECT_NEAR(watched.load_at(0), expected, 1e-12);
}

TEST(Demand, RemembersNothingOfARunBefore) {
  Watched watched({flat_job(60'000, 1e6)});
  watched.arrive(0, 0);
  watched.load_at(100);
  watched.demand.begin(to_us(6000));
  EXPECT_NEAR(watched.load_at(100), with_prior(60'000 / kFullSecondsPerMinute / kMemoryMin, 0),
              1e-12);
}

// An hour at the papers' 519 jobs a day stands for what was not seen yet.
TEST(Demand, CountsJobsADayFromThePapersOn) {
  Watched watched(std::vector<Job>(48, flat_job(60, 1e6)));
  const auto at = [&](double hours) {
    watched.load_at(60 * hours);
    return watched.demand.jobs_a_day(watched.view().now());
  };
  EXPECT_NEAR(at(0), 519, 1e-9);
  EXPECT_NEAR(at(23), 519. / 24, 1e-9);
  watched.arrive(0, 47);
  EXPECT_NEAR(at(47), (48 + 519. / 24) / 2, 1e-9);
}

// The papers' curve is .104 at 23, .111 at 0, .083 at 1, .137 at 4, .169 at 5, .171 at 6 o'clock.
TEST(Demand, TrendIsTheCurveALittleAheadOverAnHourBack) {
  Demand demand;
  demand.begin(0);
  EXPECT_NEAR(demand.trend(5 * kHourUs), std::log((0.7 * 0.169 + 0.3 * 0.171) / 0.137), 1e-12);
  EXPECT_NEAR(demand.trend(0), std::log((0.7 * 0.111 + 0.3 * 0.083) / 0.104), 1e-12);
  const TimeUs late = 23 * kHourUs + kHourUs / 2;
  EXPECT_NEAR(demand.trend(late),
              std::log((0.2 * 0.104 + 0.8 * 0.111) / (0.5 * 0.106 + 0.5 * 0.104)), 1e-12);
  EXPECT_NEAR(demand.trend(late + 3 * kDayUs), demand.trend(late), 1e-12);
}

}  // namespace
}  // namespace smartmig
