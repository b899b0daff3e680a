// The rules of docs/model/semantics.md on cases small enough to work out by hand. A100-40GB: 40,
// 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5 W for 0..7 busy compute slices; 76 W for 1.4 s after
// the last job under `real`.
#include "reference/reference.h"

#include <gtest/gtest.h>
#include <cmath>

#include "reference/tiny_case.h"

namespace smartmig::reference {
namespace {

// Seconds on 1g, 2g, 3g, 4g, 7g.
constexpr std::array<double, kSizeCount> kTimes = {70, 40, 30, 20, 10};

std::array<double, kSizeCount> only_7g(double s) { return {0, 0, 0, 0, s}; }

TEST(Run, EdfGivesEachJobTheSlowestSliceThatEndsOnTime) {
  // Job 0 (deadline 50): 2g. Job 1 (60): 2g is taken and 1g ends at 70: 4g. Job 2: 1g.
  auto c = static_case({"4-2-1"}, {job(0, 50, kTimes), job(0, 60, kTimes), job(0, 200, kTimes)},
                       "edf", Preemption::kNone);
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({40, 20, 70}));
  // 7 busy to 20 s, 2g and 1g to 40 s, 1g to 70 s.
  EXPECT_NEAR(outcome.energy_j, 20 * 248.5 + 20 * 205.3 + 30 * 119, 1e-6);
  EXPECT_EQ(outcome.events, 6);
  EXPECT_EQ(outcome.repartitions, 0);
}

TEST(Run, FreePreemptionSwitchesToTheEarlierDeadline) {
  // At 4 s job 1 takes the GPU; job 0 has .6 left and needs 6 s more from 6 s on.
  auto c = static_case({"7"}, {job(0, 100, only_7g(10)), job(4, 8, only_7g(2))}, "edf",
                       Preemption::kFree);
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({12, 6}));
  EXPECT_EQ(outcome.preemptions, 1);
  EXPECT_NEAR(outcome.energy_j, 12 * 248.5, 1e-6);
}

TEST(Run, FreePreemptionMovesAJobWithItsProgress) {
  // Job 0 starts on 3g (28 s, on time). At 7 s job 1 comes first and takes 3g, the slowest on time
  // (ends at 25); job 0 has 21/28 left, 15 s on 4g. At 22 s job 1 could move to 4g, but 3g is
  // slower and on time: it stays.
  auto c = static_case({"4-3"}, {job(0, 30, {0, 0, 28, 20, 0}), job(7, 25, {0, 0, 18, 16, 0})},
                       "edf", Preemption::kFree);
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({22, 25}));
  EXPECT_EQ(outcome.preemptions, 1);
}

TEST(Run, WithoutPreemptionJobsWait) {
  auto c = static_case({"7"}, {job(0, 100, only_7g(10)), job(4, 8, only_7g(2))}, "edf",
                       Preemption::kNone);
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({10, 12}));
  EXPECT_EQ(outcome.preemptions, 0);
}

TEST(Run, EnergyCountsIdleBoardsFromTheFirstSubmitToTheLastCompletion) {
  // Job 0 on 1g from 50 s to 60 s, job 1 on 2g from 150 s to 155 s; the other GPU idles for all of
  // the 105 s.
  auto c =
      static_case({"4-2-1", "7"}, {job(50, 100, {10, 0, 0, 0, 0}), job(150, 200, {0, 5, 0, 0, 0})},
                  "edf", Preemption::kFree);
  EXPECT_NEAR(c.run().energy_j, 10 * 119 + 90 * 40 + 5 * 160 + 105 * 40, 1e-6);
}

TEST(Run, TimesDivideByTheBoardsSpeedFactor) {
  Board twice = *board();
  twice.speed.factor[size_index(7)] = 2;
  TinyCase c(1, {job(0, 100, only_7g(10))}, "none", "edf", Preemption::kFree);
  c.setup.gpus = {&twice};
  EXPECT_EQ(c.run().finish_us, seconds({5}));
}

// From 10 s of the day on 4-3, before 7 (in force since 20 h of the day before).
TinyCase day_night_case(std::vector<Job> jobs, Preemption preemption, Costs costs) {
  TinyCase c(1, std::move(jobs), "day-night", "earliest-finish", preemption, costs);
  c.setup.layouts = {{"4-3"}, {"7"}};
  c.setup.times_us = {10 * kSecondUs, 20 * kHourUs};
  return c;
}

TEST(Repartition, WaitsForTheJobThenDestroysAndCreatesAtTheBoardsTimes) {
  // At 10 s the 7g is doomed but busy to 12 s. Destroyed at 12.22; 3g, the lower slot, made
  // at 12.42, where job 1 starts (5 s); 4g made at 12.63, where job 2 starts (4 s).
  const std::vector<Job> jobs = {job(0, 99, only_7g(12)), job(11, 99, {0, 0, 5, 4, 0}),
                                 job(12.5, 99, {0, 0, 5, 4, 0})};
  const Outcome outcome = day_night_case(jobs, Preemption::kNone, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({12, 17.42, 16.63}));
  EXPECT_EQ(outcome.repartitions, 1);
  EXPECT_EQ(outcome.preemptions, 0);
  // .42 s at the context level, then 3g, 7 busy, 3g again.
  EXPECT_NEAR(outcome.energy_j, 12 * 248.5 + .42 * 76 + .21 * 205.3 + 4 * 248.5 + .79 * 205.3,
              1e-6);
}

TEST(Repartition, TakesNoTimeAtFreeCosts) {
  // Free preemption: at 10 s job 0 is stopped with 2/12 left and goes on on 4g (24 s in full): 4 s
  // more.
  const std::vector<Job> jobs = {job(0, 99, {0, 0, 36, 24, 12})};
  const Outcome outcome = day_night_case(jobs, Preemption::kFree, {}).run();
  EXPECT_EQ(outcome.finish_us, seconds({14}));
  EXPECT_EQ(outcome.repartitions, 1);
  EXPECT_EQ(outcome.preemptions, 1);
}

TEST(Repartition, DoesNotBreakOffAnOperationUnderWay) {
  // 7 until 10 s, 4-3 until 10.1 s, then 7 again: the 7g goes from 10 to 10.22 all the same and is
  // made anew by 10.46.
  TinyCase c(1, {job(0, 99, only_7g(1)), job(10.05, 99, only_7g(5))}, "day-night", "first-fit",
             Preemption::kNone, real_costs());
  c.setup.layouts = {{"4-3"}, {"7"}};
  c.setup.times_us = {10 * kSecondUs, 10 * kSecondUs + 100'000};
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({1, 15.46}));
  EXPECT_EQ(outcome.repartitions, 2);
}

TEST(Repartition, GivesNoJobToADoomedSlice) {
  // 4-2-1 goes from 10 s on, lowest slot first: 1g at 10.20, 2g at 10.40, 4g at 10.61; 7g is there
  // at 10.85. Job 1 could have had the 4g at 10.05.
  TinyCase c(1, {job(0, 99, {1, 0, 0, 0, 0}), job(10.05, 99, {0, 0, 0, 8, 5})}, "day-night",
             "first-fit", Preemption::kNone, real_costs());
  c.setup.layouts = {{"7"}, {"4-2-1"}};
  c.setup.times_us = {10 * kSecondUs, 20 * kHourUs};
  EXPECT_EQ(c.run().finish_us, seconds({1, 15.85}));
}

TEST(Repartition, FreesAJobThatWaitsForASliceThatIsDoomed) {
  // At 20 s job 1 displaces job 0 (as below) and waits for the 7g, which saves until 25 s. At 22 s
  // the target is 4-3: job 1 is ready again. 7g gone at 25.22; job 0, saved with .8 left, takes the
  // 3g at 25.42, restores in 10 s and needs 160 s there; job 1, which does not run on 3g, takes the
  // 4g at 25.63.
  TinyCase c(1, {training(0, 500, {0, 0, 200, 0, 100}), job(20, 40, {0, 0, 0, 20, 10})},
             "day-night", "edf", Preemption::kCheckpoint, real_costs());
  c.setup.layouts = {{"4-3"}, {"7"}};
  c.setup.times_us = {22 * kSecondUs, 20 * kHourUs};
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({195.42, 45.63}));
  EXPECT_EQ(outcome.preemptions, 1);
}

TEST(Repartition, EndsARunWhoseLastJobCanNeverStart) {
  const std::vector<Job> jobs = {job(0, 99, only_7g(2)), job(1, 99, {0, 7, 0, 0, 0})};
  const Outcome outcome = day_night_case(jobs, Preemption::kNone, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, (Finish{2 * kSecondUs, -1}));
  EXPECT_NEAR(outcome.energy_j, 2 * 248.5, 1e-6);
}

TEST(Checkpoint, DisplacesWithSaveAndRestore) {
  // Without: job 1 ends at 100 + 10, 70 s late. With: saved at 25, job 1 ends at 35; job 0 restores
  // to 45 and ends its .8 at 125.
  const std::vector<Job> jobs = {training(0, 200, only_7g(100)), job(20, 40, only_7g(10))};
  const Outcome outcome =
      static_case({"7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({125, 35}));
  EXPECT_EQ(outcome.preemptions, 1);
  EXPECT_NEAR(outcome.energy_j, 125 * 248.5, 1e-6);  // Save and restore are busy.
}

TEST(Checkpoint, UsesTheJobsOwnTimes) {
  // Saves in 2 s and restores in 3: job 1 from 22 to 32, job 0 from 35 to 115.
  std::vector<Job> jobs = {training(0, 200, only_7g(100)), job(20, 40, only_7g(10))};
  jobs[0].checkpoint_ms = 2000;
  jobs[0].restore_ms = 3000;
  const Outcome outcome =
      static_case({"7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({115, 32}));
}

TEST(Checkpoint, CostsNothingAtFreeCosts) {
  const std::vector<Job> jobs = {training(0, 200, only_7g(100)), job(20, 40, only_7g(10))};
  const Outcome outcome = static_case({"7"}, jobs, "edf", Preemption::kCheckpoint).run();
  EXPECT_EQ(outcome.finish_us, seconds({110, 30}));
  EXPECT_EQ(outcome.preemptions, 1);
}

TEST(Checkpoint, LeavesJobsThatCannotBePreempted) {
  std::vector<Job> jobs = {training(0, 200, only_7g(100)), job(20, 40, only_7g(10))};
  jobs[0].preemptible = Preemptible::kNo;
  const Outcome outcome =
      static_case({"7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({100, 110}));
}

TEST(Checkpoint, DisplacesOnlyWhereTheSumOfTardinessFalls) {
  // Job 1 would gain 10 s of tardiness (110 against 100), job 0 lose 25 (125 against 100).
  const std::vector<Job> jobs = {training(0, 100, only_7g(100)), job(20, 100, only_7g(10))};
  const Outcome outcome =
      static_case({"7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({100, 110}));
  EXPECT_EQ(outcome.preemptions, 0);
}

TEST(Checkpoint, TakesTheLargestFallFirst) {
  // Jobs 0 and 1 hold the two 7g to 100 and 90. Job 2 (10 s, deadline 40) would end at 100 without.
  // Displacing job 0 (deadline 500) costs nothing: fall 60. Displacing job 1, which would end at 35
  // + 10 + 70 = 115 against its deadline 90: fall 60 - 25.
  const std::vector<Job> jobs = {training(0, 500, only_7g(100)), training(0, 90, only_7g(90)),
                                 job(20, 40, only_7g(10))};
  const Outcome outcome =
      static_case({"7", "7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({125, 90, 35}));
}

TEST(Checkpoint, ReckonsThatADisplacedJobMayTakeAFreeSlice) {
  // Job 0 (deadline 115) is on the 4g to 100 s, the 3g is free; job 1 runs on 4g only and would end
  // at 110. Displaced at 20 s, job 0 has .8 left: 88 s on 3g, to 20 + 5 + 10 + 88 = 123, 8 s late
  // (125 if it waited for the 4g).
  const auto finish = [](double deadline_s) {
    const std::vector<Job> jobs = {training(0, 115, {0, 0, 110, 100, 0}),
                                   job(20, deadline_s, {0, 0, 0, 10, 0})};
    return static_case({"4-3"}, jobs, "earliest-finish", Preemption::kCheckpoint, real_costs())
        .run()
        .finish_us;
  };
  EXPECT_EQ(finish(101), seconds({123, 35}));   // 9 s against 8.
  EXPECT_EQ(finish(102), seconds({100, 110}));  // 8 s against 8.
}

TEST(Checkpoint, KeepsWhatIsLeftOfAJobStoppedWhileItRestores) {
  // As in the first case job 0 restores from 35 s on with .8 left. At 40 s job 2 displaces it:
  // without it would end at 45 + 80 + 10. Saved at 45, job 2 to 55, restored at 65, then 80 s.
  const std::vector<Job> jobs = {training(0, 200, only_7g(100)), job(20, 40, only_7g(10)),
                                 job(40, 60, only_7g(10))};
  const Outcome outcome =
      static_case({"7"}, jobs, "edf", Preemption::kCheckpoint, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({145, 35, 55}));
  EXPECT_EQ(outcome.preemptions, 2);
}

TEST(PaperCosts, TakeFourSecondsOffEveryJobOnAChangedGpu) {
  // Both jobs run for 10, 20, 30 s on 7g, 4g, 3g. At 2 s two jobs want 4-3: job 1 (deadline 50)
  // takes 3g, job 0, .8 left, 4g to 18 s; both lose 4 s. At 18 s one job wants 7: job 1 has 14/30
  // left, 4.666667 s on 7g, and loses 4 s again.
  const std::vector<Job> jobs = {job(0, 100, kTimes), job(2, 50, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "count", "edf", Preemption::kFree, paper_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({18, 22.666667}));
  EXPECT_EQ(outcome.deadline_us, seconds({96, 42}));
  EXPECT_EQ(outcome.repartitions, 2);
  EXPECT_EQ(outcome.preemptions, 2);
  EXPECT_NEAR(outcome.energy_j, 22.666667 * 248.5, 1e-6);
}

TEST(PaperCosts, CutTheDeadlineOfAJobThatKeepsItsSliceToo) {
  // Job 0 runs on 3g only. 0 s: 4-3, job 0 on 3g to 30 s, job 1 on 4g. 5 s: 3-2-2, the 3g stays;
  // job 1 (.75 left) on 2g to 35 s, job 2 on the other to 45 s. 30 s: 4-3, job 1 (.125 left) on 3g
  // to 33.75, job 2 (.375 left) on 4g to 37.5. 33.75: 7, job 2 (.1875 left) to 35.625. Job 0 loses
  // 4 s at 0 and 5, job 1 at 0, 5 and 30, job 2 at 5, 30 and 33.75.
  const std::vector<Job> jobs = {job(0, 100, {0, 0, 30, 0, 0}), job(0, 110, kTimes),
                                 job(5, 400, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "count", "edf", Preemption::kFree, paper_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({30, 33.75, 35.625}));
  EXPECT_EQ(outcome.deadline_us, seconds({92, 98, 388}));
  EXPECT_EQ(outcome.repartitions, 4);
}

TEST(PaperCosts, WithoutPreemptionSpareTheJobsThatOnlyStay) {
  // At 2 s the target is 4-3, but job 0 keeps the 7g; at 10 s the target is 7 again and job 1
  // starts there.
  const std::vector<Job> jobs = {job(0, 100, kTimes), job(2, 50, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "count", "edf", Preemption::kNone, paper_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({10, 20}));
  EXPECT_EQ(outcome.deadline_us, seconds({100, 46}));
  EXPECT_EQ(outcome.repartitions, 2);
}

TEST(Failure, RestartsJobsElsewhereAndRemakesSlicesOnReturn) {
  // GPU 0 is down from 4 to 6 s: job 0 starts over on GPU 1. Job 1, at 6 s, waits until the 7g is
  // made at 6.24.
  auto c = static_case({"7", "7"}, {job(0, 99, only_7g(10)), job(6, 99, only_7g(5))}, "edf",
                       Preemption::kNone, real_costs());
  c.setup.events = {{4 * kSecondUs, 0, true}, {6 * kSecondUs, 0, false}};
  const Outcome outcome = c.run();
  EXPECT_EQ(outcome.finish_us, seconds({14, 11.24}));
  const double gpu_0 = 4 * 248.5 + .24 * 40 + 5 * 248.5 + 1.4 * 76 + 1.36 * 40;
  const double gpu_1 = 4 * 40 + 10 * 248.5;
  EXPECT_NEAR(outcome.energy_j, gpu_0 + gpu_1, 1e-6);
}

TEST(Failure, LosesASaveUnderWay) {
  // Job 1 displaces job 0 at 20 s; the GPU fails at 22, before the save ends, and is back with its
  // slice at 30.24. Job 1 runs to 40.24; job 0 starts over, with nothing to restore.
  auto c = static_case({"7"}, {training(0, 200, only_7g(100)), job(20, 40, only_7g(10))}, "edf",
                       Preemption::kCheckpoint, real_costs());
  c.setup.events = {{22 * kSecondUs, 0, true}, {30 * kSecondUs, 0, false}};
  EXPECT_EQ(c.run().finish_us, seconds({140.24, 40.24}));
}

TEST(Failure, EndsTheContextLevelOfTheBoard) {
  // Job 0 to 1 s, context level to 1.2 s, down to 1.4 s, then idle although 1.4 s have not passed;
  // job 1 from 3 to 4 s.
  auto c = static_case({"7"}, {job(0, 99, only_7g(1)), job(3, 99, only_7g(1))}, "edf",
                       Preemption::kNone, real_costs());
  c.setup.events = {{1'200'000, 0, true}, {1'400'000, 0, false}};
  EXPECT_NEAR(c.run().energy_j, 248.5 + .2 * 76 + 1.6 * 40 + 248.5, 1e-6);
}

TEST(Count, StepsTheLastGpuFirst) {
  // Three jobs, two GPUs: GPU 1 goes to 4-3. Job 0 on the 7g to 10 s, job 1 on 3g, job 2 on 4g. At
  // 10 s both GPUs are 7 again: job 1 has 2/3 left (6.666667 s), job 2 half (5 s).
  const std::vector<Job> jobs = {job(0, 500, kTimes), job(0, 500, kTimes), job(0, 500, kTimes)};
  const Outcome outcome = TinyCase(2, jobs, "count", "edf", Preemption::kFree).run();
  EXPECT_EQ(outcome.finish_us, seconds({10, 16.666667, 15}));
  EXPECT_EQ(outcome.repartitions, 2);
  EXPECT_EQ(outcome.preemptions, 2);
}

TEST(Count, LetsAllGpusStepBeforeOneStepsTwice) {
  // Five jobs, two GPUs: 4-3, 4-3 make four slices, then GPU 1 goes on to 3-2-2 (2g at 0 and 2, 3g
  // at 4). First fit in job order.
  const Outcome outcome =
      TinyCase(2, std::vector<Job>(5, job(0, 500, kTimes)), "count", "first-fit", Preemption::kNone)
          .run();
  EXPECT_EQ(outcome.finish_us, seconds({20, 30, 40, 40, 30}));
}

TEST(Greedy, SizesJobsToTheirDeadlines) {
  // Job 0 is on time on 1g; job 1 (deadline 25) is late on 1g, 2g and 3g, not on 4g. Target 4-1,
  // from 20 s on 1.
  const std::vector<Job> jobs = {job(0, 100, kTimes), job(0, 25, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "greedy", "", Preemption::kFree).run();
  EXPECT_EQ(outcome.finish_us, seconds({70, 20}));
  EXPECT_EQ(outcome.repartitions, 2);
  EXPECT_EQ(outcome.preemptions, 0);
  EXPECT_NEAR(outcome.energy_j, 20 * 247.7 + 50 * 119, 1e-6);
}

TEST(Greedy, GivesTheLargestGainFirst) {
  // Both jobs are late on any size; 7 slices. Steps 1-2, 2-3, 3-4 of kTimes gain 60 / (1 of kTimes
  // in s) differences: per added slice 1/40 - 1/70, 1/30 - 1/40, 1/20 - 1/30, 1/3 (1/10 - 1/20) =
  // .0107, .0083, .0167, .0167 (times 60 p_1g^.9). Job 1 is twice as long on every size: its gains
  // are 2^.9 / 2 = .933 of those. Moves: job 0 to 2 (.0107), job 1 to 2 (.0100), job 0 to 3
  // (.0083), job 0 to 4 (.0167), then job 0 needs 3 slices and one is left: job 1 to 3. Packed 4-3:
  // they end at 20 and 60 s. At 20 s job 1, 40 s left on 3g, has the GPU to itself: 7g, 20 s for
  // 2/3 of it.
  const std::vector<Job> jobs = {job(0, 1, kTimes), job(0, 1, {140, 80, 60, 40, 20})};
  const Outcome outcome = TinyCase(1, jobs, "greedy", "", Preemption::kFree).run();
  EXPECT_EQ(outcome.finish_us, seconds({20, 33.333333}));
}

TEST(Greedy, WeighsTheGainByTheLengthOfTheJob) {
  // An A30 has 4 slices: after 1g for each job one is left, and jobs 0 and 1 are late. Steps 1-2
  // gain 60 (1/40 - 1/70) (70/60)^.9 = .738 and 60 (1/130 - 1/280) (280/60)^.9 = .989: job 1,
  // although 60/130 - 60/280 = .247 is less than 60/40 - 60/70 = .643.
  const std::vector<Job> jobs = {job(0, 1, {70, 40, 0, 0, 0}), job(0, 1, {280, 130, 0, 0, 0}),
                                 job(0, 999, {50, 0, 0, 0, 0})};
  TinyCase c(1, jobs, "greedy", "", Preemption::kNone);
  c.setup.gpus = {board("A30")};
  ASSERT_EQ(board("A30")->speed.factor[0], 1);
  EXPECT_EQ(c.run().finish_us, seconds({70, 130, 50}));
}

TEST(Greedy, StartsWaitForSlicesStillToBeMade) {
  // 7g destroyed at .22; 1g, the lower slot, made at .38, 4g at .59.
  const std::vector<Job> jobs = {job(0, 100, kTimes), job(0, 25, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "greedy", "", Preemption::kNone, real_costs()).run();
  EXPECT_EQ(outcome.finish_us, seconds({70.38, 20.59}));
  EXPECT_EQ(outcome.repartitions, 1);
  EXPECT_NEAR(outcome.energy_j, .38 * 40 + .21 * 119 + 20 * 247.7 + 49.79 * 119, 1e-6);
}

TEST(Greedy, PacksBesideSlicesInUse) {
  // Job 0 alone (deadline 25) takes 4g to 20 s. Job 1 at 1 s, late on any size, is sized within the
  // 3 slices left: 3g to 31 s. Job 2 at 2 s finds no slice left; at 20 s four are, and 4g at 0 is
  // free: 20 s, on time by 45 s, to 40 s.
  const std::vector<Job> jobs = {job(0, 25, kTimes), job(1, 2, kTimes), job(2, 45, kTimes)};
  const Outcome outcome = TinyCase(1, jobs, "greedy", "", Preemption::kNone).run();
  EXPECT_EQ(outcome.finish_us, seconds({20, 31, 40}));
}

TEST(Power, AddsTheJobsWattsOnABoardMeasuredJobByJob) {
  const Board* h200 = board("H200-141GB");
  ASSERT_TRUE(h200->power.additive);
  const SpeedProfile* measured = nullptr;
  std::vector<Job> jobs = {job(0, 99, {10, 0, 0, 0, 0}), job(0, 99, {10, 0, 0, 0, 0})};
  for (std::uint16_t p = 0; p < Catalogue::shipped().profiles().size(); ++p) {
    const SpeedProfile& profile = Catalogue::shipped().profiles()[p];
    if (measured != nullptr || profile.watts[0] <= 0) continue;
    measured = &profile;
    jobs[0].profile = p;
  }
  ASSERT_NE(measured, nullptr);
  auto c = static_case({"1-1-1-1-1-1-1"}, jobs, "edf", Preemption::kNone, real_costs());
  c.setup.gpus = {h200};
  // Job 1 has no measured watts: the table's step from idle to one slice.
  const double table = h200->power.busy_w[1] - h200->power.busy_w[0];
  // An end is rounded up to a microsecond.
  const double seconds = std::ceil(10e6 / h200->speed.factor[0]) / 1e6;
  EXPECT_NEAR(c.run().energy_j, seconds * (125.2 + measured->watts[0] + table), 1e-6);
  // Without `real` the table counts.
  c.setup.costs = {};
  EXPECT_NEAR(c.run().energy_j, seconds * h200->power.busy_w[2], 1e-6);
}

}  // namespace
}  // namespace smartmig::reference
