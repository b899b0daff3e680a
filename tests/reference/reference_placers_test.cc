// Each placer's rule on cases small enough to work out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "reference/tiny_case.h"

namespace smartmig::reference {
namespace {

// Seconds on 1g, 2g, 3g, 4g, 7g.
constexpr std::array<double, kSizeCount> kPlacerTimes = {70, 40, 30, 20, 10};

Finish finish_of_one_job(const std::string& placer, const Job& j) {
  return static_case({"4-2-1", "7"}, {j}, placer, Preemption::kNone).run().finish_us;
}

TEST(Placers, ChooseTheSliceTheirRuleNames) {
  // On GPU 0: 4g ends at 20, 2g at 40, 1g at 70; on GPU 1: 7g at 10. The deadline leaves out only
  // 1g.
  const Job j = job(0, 45, kPlacerTimes);
  EXPECT_EQ(finish_of_one_job("edf", j), seconds({40}));   // Both GPUs empty: GPU 0, slowest.
  EXPECT_EQ(finish_of_one_job("cedf", j), seconds({10}));  // Mean sizes 7/3 and 7: GPU 1.
  EXPECT_EQ(finish_of_one_job("shortest-remaining", j), seconds({10}));
  EXPECT_EQ(finish_of_one_job("slowest-on-time", j), seconds({40}));
  EXPECT_EQ(finish_of_one_job("apparent-tardiness", j), seconds({10}));
  EXPECT_EQ(finish_of_one_job("earliest-finish", j), seconds({10}));
  EXPECT_EQ(finish_of_one_job("largest-first", j), seconds({10}));
  EXPECT_EQ(finish_of_one_job("smallest-first", j), seconds({70}));
  EXPECT_EQ(finish_of_one_job("first-fit", j), seconds({20}));  // 4g is at memory slice 0.
}

TEST(Placers, TakeTheEarliestEndWhenNothingEndsOnTime) {
  const Job j = job(0, 5, kPlacerTimes);
  for (const char* placer : {"edf", "cedf", "slowest-on-time", "shortest-remaining"})
    EXPECT_EQ(finish_of_one_job(placer, j), seconds({10})) << placer;
}

TEST(Placers, MetWeighsEnergyAmongSlicesThatAreNotLate) {
  // (P(c) - P(0)) * minutes on 2g, 4g, 7g: 120*40/60 = 80, 203.9*20/60 = 67.97, 208.5*10/60
  // = 34.75: 7g.
  EXPECT_EQ(finish_of_one_job("met", job(0, 45, kPlacerTimes)), seconds({10}));
  // With 30 s on 7g it is 104.25 there: 4g. 1g would be the least, 79*46/60 = 60.57, but late by a
  // second, which weighs more than all energies at 2e-7.
  EXPECT_EQ(finish_of_one_job("met", job(0, 45, {46, 40, 30, 20, 30})), seconds({20}));
}

TEST(Placers, MetCountsWhatWasPlacedBefore) {
  // Job 0 runs on 4g only: GPU 1. Job 1 runs on 3g only: P(3) - P(0) = 165.3 W on GPU 0, P(7) -
  // P(4) = 4.6 W on GPU 1.
  auto c = static_case({"3-3", "4-3"}, {job(0, 99, {0, 0, 0, 60, 0}), job(0, 99, {0, 0, 60, 0, 0})},
                       "met", Preemption::kNone);
  EXPECT_NEAR(c.run().energy_j, 60 * 40 + 60 * 248.5, 1e-6);
}

TEST(Placers, EdfFillsTheMostOccupiedGpuAndCedfTheOneWithLargeSlices) {
  // edf: the first job takes the slowest slice of GPU 0 (1g, 70 s); GPU 0 is then 1/7 occupied, so
  // the second takes its 2g. cedf: mean sizes are 7/3 and 3.5, so the jobs take 3g and 4g of GPU 1.
  const std::vector<Job> jobs = {job(0, 100, kPlacerTimes), job(1, 101, kPlacerTimes)};
  const auto finish = [&](const char* placer) {
    return static_case({"4-2-1", "4-3"}, jobs, placer, Preemption::kNone).run().finish_us;
  };
  EXPECT_EQ(finish("edf"), seconds({70, 41}));
  EXPECT_EQ(finish("cedf"), seconds({30, 21}));
}

TEST(Placers, TakeJobsInTheirOrder) {
  // Job 0: the same on all sizes (class 4), laxity 30 - 10 = 20. Job 1: 44 s on 4g, 25 s on 7g
  // (class 1), laxity 40 - 25 = 15.
  const std::vector<Job> jobs = {job(0, 30, {10, 10, 10, 10, 10}),
                                 job(0, 40, {175, 88, 60, 44, 25})};
  const auto finish = [&](const char* placer) {
    return static_case({"7"}, jobs, placer, Preemption::kNone).run().finish_us;
  };
  const Finish job_0_first = seconds({10, 35});
  const Finish job_1_first = seconds({35, 25});
  EXPECT_EQ(finish("edf"), job_0_first);
  EXPECT_EQ(finish("shortest-remaining"), job_0_first);
  EXPECT_EQ(finish("cedf"), job_1_first);
  // Mean 17.5 s. Job 0: slack 20 s, 20 / 35 + ln(10) = 2.87; job 1: slack 15 s, 15 / 35 + ln(25) =
  // 3.65 (in microseconds both are larger by the same).
  EXPECT_EQ(finish("apparent-tardiness"), job_0_first);
}

TEST(Placers, RandomDrawsOneIndexForEachJobFromItsOwnStream) {
  // Slices by index: seven 1g of GPU 0, then 2g, 2g, 2g, 1g of GPU 1. Job 0 draws among 11, job 1
  // among the 10 left.
  auto c = static_case({"1-1-1-1-1-1-1", "2-2-2-1"},
                       {job(0, 100, kPlacerTimes), job(0, 200, kPlacerTimes)}, "random",
                       Preemption::kNone);
  for (c.setup.seed = 1; c.setup.seed <= 20; ++c.setup.seed) {
    Random draws(c.setup.seed, "random placer");
    std::vector<double> slices = {70, 70, 70, 70, 70, 70, 70, 40, 40, 40, 70};
    std::vector<double> expected;
    for (std::uint64_t free = 11; free >= 10; --free) {
      const auto k = static_cast<std::ptrdiff_t>(draws.below(free));
      expected.push_back(slices[k]);
      slices.erase(slices.begin() + k);
    }
    EXPECT_EQ(c.run().finish_us, seconds(expected)) << "seed " << c.setup.seed;
  }
}

TEST(Placers, PassOverJobsThatRunOnNoFreeSlice) {
  // Job 0 runs on 7g only, which the layout lacks; job 1 needs 15,000 MiB, which 1g and 2g lack, so
  // it waits for nothing: 4g.
  std::vector<Job> jobs = {job(0, 10, {0, 0, 0, 0, 10}), job(0, 90, kPlacerTimes)};
  jobs[1].memory_mib = 15000;
  auto c = static_case({"4-2-1"}, jobs, "edf", Preemption::kNone);
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, (Finish{-1, 20 * kSecondUs}));
  EXPECT_NEAR(outcome.energy_j, 20 * 243.9, 1e-6);  // Ends with the last completion.
}

TEST(Placers, SeeTimesOffByTheEstimateError) {
  auto c = static_case({"4-2-1"}, {job(0, 45, kPlacerTimes)}, "edf", Preemption::kNone);
  c.setup.estimate_sigma = 1;
  int not_2g = 0;
  for (c.setup.seed = 1; c.setup.seed <= 20; ++c.setup.seed) {
    const double factor = std::exp(Random(c.setup.seed, "estimate error").normal());
    // Slowest that seems to end by 45 s, else 4g, the earliest; the true times count for the end.
    const double expected = factor * 70 <= 45 ? 70 : factor * 40 <= 45 ? 40 : 20;
    EXPECT_EQ(c.run().finish_us, seconds({expected})) << "seed " << c.setup.seed;
    not_2g += expected != 40;
  }
  EXPECT_GT(not_2g, 0);
}

// The job takes 10 s on 7g and is believed to take a multiple of it, and an error on top.
TEST(Placers, SeeAJobsOwnEstimateInPlaceOfItsTimes) {
  auto c = static_case({"4-2-1"}, {job(0, 45, kPlacerTimes)}, "edf", Preemption::kNone);
  Job& row = c.table.jobs[0];
  const double true_7g_s = to_s(row.time_us.back());
  for (const double times : {.5, 1., 2., 4.}) {
    row.estimate_us = to_us(times * true_7g_s);
    const double expected = times * 70 <= 45 ? 70 : times * 40 <= 45 ? 40 : 20;
    EXPECT_EQ(c.run().finish_us, seconds({expected})) << times;
    c.setup.estimate_sigma = .7;
    const double factor = times * std::exp(.7 * Random(c.setup.seed, "estimate error").normal());
    const double seen = factor * 70 <= 45 ? 70 : factor * 40 <= 45 ? 40 : 20;
    EXPECT_EQ(c.run().finish_us, seconds({seen})) << times;
    c.setup.estimate_sigma = 0;
  }
}

}  // namespace
}  // namespace smartmig::reference
