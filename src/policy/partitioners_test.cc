#include "policy/partitioners.h"

#include <gtest/gtest.h>

#include "policy/situation.h"

namespace smartmig {
namespace {

// The targets of two GPUs under `count` with that many jobs in the system.
std::string count_layouts(JobIndex jobs) {
  Situation situation("2xA100-40GB", "7,7", std::vector<Job>(30, flat_job(9, 50)), "count/cedf");
  if (jobs > 0) situation.arrive(0, jobs - 1);
  situation.partition();
  return situation.targets();
}

TEST(Count, StepsAlongItsChainLastGpuFirst) {
  EXPECT_EQ(count_layouts(1), "7 7");
  EXPECT_EQ(count_layouts(2), "7 7");
  EXPECT_EQ(count_layouts(3), "7 4-3");
  EXPECT_EQ(count_layouts(4), "4-3 4-3");
  EXPECT_EQ(count_layouts(5), "4-3 3-2-2");
  EXPECT_EQ(count_layouts(6), "3-2-2 3-2-2");
  EXPECT_EQ(count_layouts(7), "3-2-2 3-2-1-1");
  EXPECT_EQ(count_layouts(8), "3-2-1-1 3-2-1-1");
  EXPECT_EQ(count_layouts(9), "3-2-1-1 2-2-1-1-1");
  EXPECT_EQ(count_layouts(10), "2-2-1-1-1 2-2-1-1-1");
  EXPECT_EQ(count_layouts(11), "2-2-1-1-1 1-1-1-1-1-1-1") << "the last step adds two slices";
  EXPECT_EQ(count_layouts(12), "2-2-1-1-1 1-1-1-1-1-1-1");
  EXPECT_EQ(count_layouts(13), "1-1-1-1-1-1-1 1-1-1-1-1-1-1");
  EXPECT_EQ(count_layouts(30), "1-1-1-1-1-1-1 1-1-1-1-1-1-1");
}

TEST(Count, ComesBackTheSameWayAsJobsEnd) {
  Situation situation("2xA100-40GB", "7,7", std::vector<Job>(13, flat_job(9, 50)), "count/cedf",
                      Preemption::kFree);
  situation.arrive(0, 12);
  situation.partition();
  for (JobIndex done = 0; done < 12; ++done) {
    const FreeSlices& free = situation.state.free();
    const SliceId slice = free.lowest(0, free.kinds_on(0, free.kinds()));
    situation.state.set_now(
        situation.state.start({done, slice, situation.state.slice(slice).slot}));
    situation.state.complete(slice);
    situation.partition();
    ASSERT_EQ(situation.targets(), count_layouts(12 - done)) << 12 - done << " jobs are left";
  }
}

TEST(Count, HasAChainForBoardsOfFourSlices) {
  Situation situation("A100-40GB+A30", "7,4", std::vector<Job>(30, flat_job(9, 50)), "count/cedf");
  const std::vector<std::string> expected = {
      "7 4",         "7 4",           "7 2-2",           "4-3 2-2",          "4-3 2-1-1",
      "3-2-2 2-1-1", "3-2-2 1-1-1-1", "3-2-1-1 1-1-1-1", "2-2-1-1-1 1-1-1-1"};
  for (JobIndex job = 0; job < expected.size(); ++job) {
    situation.arrive(job, job);
    situation.partition();
    EXPECT_EQ(situation.targets(), expected[job]) << job + 1 << " jobs";
  }
}

TEST(Count, KeepsAGpuWholeForAJobThatRunsOnNothingSmaller) {
  std::vector<Job> jobs(9, flat_job(9, 50));
  jobs[8].memory_mib = 30'000;
  Situation situation("2xA100-40GB", "7,7", jobs, "count/cedf");
  situation.arrive(0, 7);
  situation.partition();
  EXPECT_EQ(situation.targets(), "3-2-1-1 3-2-1-1");
  situation.arrive(8, 8);
  situation.partition();
  EXPECT_EQ(situation.targets(), "7 2-2-1-1-1") << "nine jobs; the first GPU stays whole";
  // It starts, and no longer waits: the GPU is asked for its step again.
  const SliceId slice = situation.fleet.slice_at(0, 0);
  situation.state.start({8, slice, situation.state.slice(slice).slot});
  situation.partition();
  EXPECT_EQ(situation.targets(), "3-2-1-1 2-2-1-1-1");
  EXPECT_EQ(situation.state.job_state(8).status, JobStatus::kRunning)
      << "its slice is doomed but stays until it ends";
}

TEST(Count, LeavesOutGpusThatAreDown) {
  Situation situation("3xA100-40GB", "7,7,7", std::vector<Job>(3, flat_job(9, 50)), "count/cedf");
  situation.arrive(0, 2);
  situation.partition();
  EXPECT_EQ(situation.targets(), "7 7 7");
  situation.state.fail(2);
  situation.partition();
  EXPECT_EQ(situation.targets(), "7 4-3 7") << "two GPUs must make three slices";
  situation.state.bring_back(2);
  situation.partition();
  EXPECT_EQ(situation.targets(), "7 7 7");
}

TEST(DayNight, TakesTheListOfTheTimeOfDay) {
  Situation situation("2xA100-40GB", "7,7", {flat_job(9, 50)}, "day-night:20:30=4-3*2+8=7,3-3/edf");
  const auto at = [&](double hour) {
    situation.state.set_now(to_us(hour * 3600));
    situation.partition();
    return situation.targets();
  };
  EXPECT_EQ(at(0), "4-3 4-3") << "before the first time of day the second list is in force";
  EXPECT_EQ(at(8), "7 3-3");
  EXPECT_EQ(at(20.4), "7 3-3");
  EXPECT_EQ(at(20.5), "4-3 4-3");
  EXPECT_EQ(at(24 + 7.9), "4-3 4-3");
  EXPECT_EQ(at(24 + 8), "7 3-3") << "the next day";
  situation.partition();
  EXPECT_TRUE(situation.decision.repartitions.empty()) << "nothing to do while the list stands";
}

TEST(DayNight, AsksToBeCalledAtItsTwoTimes) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  const Policy policy = *make_policy("day-night:8=7+20:30=4-3/edf", fleet);
  const Partitioner& partitioner = *policy.partitioner;
  EXPECT_EQ(partitioner.next_timer(0), 8 * kHourUs);
  EXPECT_EQ(partitioner.next_timer(8 * kHourUs), 20 * kHourUs + 30 * kMinuteUs)
      << "after now, not at it";
  EXPECT_EQ(partitioner.next_timer(21 * kHourUs), 32 * kHourUs);
  EXPECT_EQ(partitioner.next_timer(32 * kHourUs - 1), 32 * kHourUs);
}

TEST(FixedLayouts, NoneIsTheLargestProfileOfEachBoard) {
  const Fleet fleet = *Fleet::parse("A100-40GB+A30");
  std::vector<SlotSet> sets;
  whole_gpus(fleet, sets);
  EXPECT_EQ(layout_name(fleet.board(0), sets.at(0)), "7");
  EXPECT_EQ(layout_name(fleet.board(1), sets.at(1)), "4");
}

// Layouts and starts of `greedy`, in job order: "3-3 | job 0 on 0:3@0 ...".
std::string greedy(Situation& situation) {
  situation.partition();
  std::string text = situation.targets() + " |";
  for (const Start& start : situation.decision.starts) {
    text += fmt::format(" job {} on {}", start.job, situation.name(start));
  }
  return text;
}

TEST(Greedy, GivesEveryJobThatIsOnTimeOneSlice) {
  Situation situation("A100-40GB", "7", {flat_job(9, 50), flat_job(9, 50)}, "greedy",
                      Preemption::kFree);
  situation.arrive(0, 1);
  EXPECT_EQ(greedy(situation), "1-1 | job 0 on 0:1@0 job 1 on 0:1@1");
}

TEST(Greedy, MovesALateJobUpUntilItIsOnTime) {
  const Job late = make_job({84, 42, 28, 21, 12}, 30);  // 3g is enough.
  Situation situation("A100-40GB", "7", {late}, "greedy", Preemption::kFree);
  situation.arrive(0, 0);
  EXPECT_EQ(greedy(situation), "3 | job 0 on 0:3@0");
}

TEST(Greedy, GivesThePreferenceToTheLargestGain) {
  // Five slices are to be had above the first two; both are late at any size. The steep one gains
  // more per slice.
  const Job steep = make_job({84, 42, 28, 21, 12}, 1);
  const Job shallow = make_job({84, 80, 77, 75, 70}, 1);
  Situation situation("A100-40GB", "7", {shallow, steep}, "greedy", Preemption::kFree);
  situation.arrive(0, 1);
  // Steep: 1-2-3-4, then 7 needs three more of the two left, so the shallow one gets them.
  EXPECT_EQ(greedy(situation), "4-3 | job 0 on 0:3@4 job 1 on 0:4@0");
}

TEST(Greedy, CutsWhatFitsInNoLegalLayout) {
  // Sizes 3, 3 and 1: seven slices, but 3-3-1 does not exist; a job at 1g cannot be cut and waits.
  const Job late = make_job({84, 42, 28, 21, 12}, 30);
  Situation situation("A100-40GB", "7", {late, late, flat_job(9, 1000)}, "greedy",
                      Preemption::kFree);
  situation.arrive(0, 2);
  EXPECT_EQ(greedy(situation), "3-3 | job 0 on 0:3@0 job 1 on 0:3@4");
}

TEST(Greedy, CutsALargeSizeToTheNextThatFitsBesideWhatRuns) {
  // A 1g slice in use at 0 leaves six compute slices, but no place for a 4g: the job is cut to 3g.
  const Job late = make_job({84, 42, 28, 21, 12}, 1);
  Situation situation("A100-40GB", "1-1-1-1-1-1-1", {flat_job(100, 1000), late}, "greedy");
  situation.run(0, 0, 0);
  situation.arrive(1, 1);
  EXPECT_EQ(greedy(situation), "3-1 | job 1 on 0:3@4");
}

TEST(Greedy, LeavesTheLongestJobsOutWhereSlicesAreShort) {
  std::vector<Job> jobs(8, flat_job(9, 1000));
  jobs[2] = flat_job(20, 10);
  Situation situation("A100-40GB", "7", jobs, "greedy", Preemption::kFree);
  situation.arrive(0, 7);
  const std::string text = greedy(situation);
  EXPECT_EQ(text.find("job 2"), std::string::npos) << text;
  EXPECT_EQ(situation.decision.starts.size(), 7u);
}

}  // namespace
}  // namespace smartmig
