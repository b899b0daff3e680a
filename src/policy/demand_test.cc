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
  EXPECT_NEAR(watched.load_at(0), 0.3, 1e-9);
}

// Jobs of this length are as long as the papers' by the mean of the logarithm.
const double kPapersSeconds = std::exp(1.2) * kMinute;

TEST(Demand, ForgetsAtItsTimeConstant) {
  Watched watched({flat_job(kPapersSeconds, 1e6)});
  watched.arrive(0, 0);
  const double work = kPapersSeconds / kFullSecondsPerMinute / kMemoryMin;
  EXPECT_NEAR(watched.load_at(0), with_prior(work, 0), 1e-9);
  for (const double times : {1.0, 2.0, 10.0}) {
    EXPECT_NEAR(watched.load_at(times * kMemoryMin),
                with_prior(work * std::exp(-times), 1 - std::exp(-times)), 1e-9);
  }
}

TEST(Demand, TakesLongerToForgetWhereJobsAreLonger) {
  Watched papers({flat_job(kPapersSeconds, 1e6)});
  Watched longer({flat_job(50 * kPapersSeconds, 1e6)});
  for (Watched* watched : {&papers, &longer}) watched->arrive(0, 0);
  for (const double minutes : {0.0, 20.0, 200.0})
    EXPECT_NEAR(longer.load_at(50 * minutes), papers.load_at(minutes), 1e-9);
  EXPECT_NEAR(papers.demand.unit(), 1, 1e-8);  // Times are whole microseconds.
  EXPECT_NEAR(longer.demand.unit(), 50, 1e-6);
}

TEST(Demand, MeasuresLengthByTheJobsOfLate) {
  std::vector<Job> jobs(3000, flat_job(kPapersSeconds, 1e6));
  std::fill(jobs.begin() + 1000, jobs.end(), flat_job(5 * kPapersSeconds, 1e6));
  Watched watched(jobs);
  watched.arrive(0, 999);
  watched.load_at(0);
  EXPECT_NEAR(watched.demand.unit(), 1, 1e-8);
  watched.arrive(1000, 2999);
  watched.load_at(1);
  EXPECT_NEAR(watched.demand.unit(), 5, 0.01);
}

TEST(Demand, CountsArrivalsSinceJobsLastDidNotHaveToWait) {
  Watched watched(std::vector<Job>(4, flat_job(600, 1e6)));
  watched.run(0, 0, 0);
  watched.arrive(1, 2);
  watched.load_at(1);
  EXPECT_EQ(watched.demand.busy_arrivals(), 0);  // These have not waited yet.
  watched.arrive(3, 3);
  watched.load_at(2);
  EXPECT_EQ(watched.demand.busy_arrivals(), 1);
  EXPECT_EQ(watched.demand.busy_us(to_us(120)), to_us(60));
}

TEST(Demand, ForgetsTheSameInOneStepAndInMany) {
  Watched once({flat_job(60'000, 1e6)});
  Watched often({flat_job(60'000, 1e6)});
  for (Watched* watched : {&once, &often}) {
    watched->arrive(0, 0);
    watched->load_at(0);
  }
  for (int minute = 1; minute < 90; ++minute) often.load_at(minute);
  EXPECT_NEAR(often.load_at(90), once.load_at(90), 1e-9);
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
  Watched watched({make_job({0, kPapersSeconds, 100, 80, 60}, 1e6)});
  watched.arrive(0, 0);
  const double expected = with_prior(2 * kPapersSeconds / kFullSecondsPerMinute / kMemoryMin, 0);
  EXPECT_NEAR(watched.load_at(0), expected, 1e-9);
  EXPECT_NEAR(watched.load_at(0), expected, 1e-9);
}

TEST(Demand, RemembersNothingOfARunBefore) {
  Watched watched({flat_job(kPapersSeconds, 1e6)});
  watched.arrive(0, 0);
  watched.load_at(100);
  watched.demand.begin(to_us(6000));
  EXPECT_NEAR(watched.load_at(100),
              with_prior(kPapersSeconds / kFullSecondsPerMinute / kMemoryMin, 0), 1e-9);
}

// Eight jobs at the papers' rate, 519 a day, stand for what was not seen yet.
TEST(Demand, CountsJobsADayFromThePapersOn) {
  Watched watched(std::vector<Job>(48, flat_job(60, 1e6)));
  const auto at = [&](double hours) {
    watched.load_at(60 * hours);
    return watched.demand.jobs_a_day(watched.view().now());
  };
  EXPECT_NEAR(at(0), 519, 1e-9);
  EXPECT_NEAR(at(24), 8 / (1 + 8. / 519), 1e-9);
  watched.arrive(0, 47);
  EXPECT_NEAR(at(48), (48 + 8) / (2 + 8. / 519), 1e-9);
}

// The papers' curve is .104 at 23, .111 at 0, .083 at 1, .137 at 4, .169 at 5, .171 at 6 o'clock.
TEST(Demand, TrendIsTheCurveALittleAheadOverAnHourBack) {
  Demand demand;
  demand.begin(0);
  EXPECT_NEAR(demand.trend(5 * kHourUs), std::log((0.7 * 0.169 + 0.3 * 0.171) / 0.137), 1e-9);
  EXPECT_NEAR(demand.trend(0), std::log((0.7 * 0.111 + 0.3 * 0.083) / 0.104), 1e-9);
  const TimeUs late = 23 * kHourUs + kHourUs / 2;
  EXPECT_NEAR(demand.trend(late),
              std::log((0.2 * 0.104 + 0.8 * 0.111) / (0.5 * 0.106 + 0.5 * 0.104)), 1e-9);
  EXPECT_NEAR(demand.trend(late + 3 * kDayUs), demand.trend(late), 1e-9);
}

}  // namespace
}  // namespace smartmig
