#include "sim/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "policy/registry.h"
#include "sim/engine.h"

namespace smartmig {
namespace {

Job recorded_job(double submit_s, double time_s, double deadline_s = 1e6) {
  Job job;
  job.submit_us = to_us(submit_s);
  job.deadline_us = to_us(deadline_s);
  job.time_us.fill(to_us(time_s));
  return job;
}

// A run that has ended, with its records.
struct Recorded {
  Recorded(std::string_view spec, std::vector<Job> jobs, const Costs& costs = Costs::free(),
           Preemption preemption = Preemption::kOff, std::vector<GpuEvent> events = {})
      : table{std::move(jobs), {}, {}, {}, {}, 1, {}},
        engine(fleet, table, *make_policy(spec, fleet), options(costs, preemption, events)) {
    const auto done = engine.run();
    EXPECT_TRUE(done) << done.error().message;
  }
  Recorded(const Recorded&) = delete;  // The engine points into it.
  static EngineOptions options(const Costs& costs, Preemption preemption,
                               const std::vector<GpuEvent>& events) {
    EngineOptions options;
    options.costs = costs;
    options.preemption = preemption;
    options.records = true;
    options.stays = true;
    options.events = events;
    return options;
  }
  const Records& records() const { return *engine.records(); }
  // "60.22 7 -> 4-3": seconds, what is there, what is to be.
  std::vector<std::string> layouts() const {
    std::vector<std::string> lines;
    for (const LayoutRecord& record : records().layouts()) {
      lines.push_back(fmt::format(
          "{} {} -> {}{}", to_s(record.at_us), layout_name(fleet.board(0), record.ready),
          layout_name(fleet.board(0), record.target), record.up ? "" : " down"));
    }
    return lines;
  }
  // "70-80 job 1 on 4@0": seconds, what ran, the slice's size and place.
  std::vector<std::string> stays() const {
    std::vector<std::string> lines;
    for (const StayRecord& stay : records().stays()) {
      const Slot& slot = fleet.board(0).slots[stay.slot];
      lines.push_back(fmt::format("{}-{} job {} on {}@{}", to_s(stay.begin_us), to_s(stay.end_us),
                                  stay.job, fleet.board(0).profiles[slot.profile].compute_slices,
                                  fleet.start_of(stay.slice)));
    }
    return lines;
  }
  std::vector<std::string> power() const {
    std::vector<std::string> lines;
    for (const PowerRecord& record : records().power())
      lines.push_back(fmt::format("{} {}", to_s(record.at_us), record.watts));
    return lines;
  }

  Fleet fleet = *Fleet::parse("A100-40GB");
  JobTable table;
  Engine engine;
};

using Lines = std::vector<std::string>;

// 7g from 0 to 10 s; from 60 s the layout is 4-3; the second job has its 4g from 70 to 80 s.
Recorded day_and_night(const Costs& costs) {
  return Recorded("day-night:0=7+0:01=4-3/first-fit", {recorded_job(0, 10), recorded_job(70, 10)},
                  costs);
}

TEST(Records, UnderRealCostsARepartitionTakesItsOperationsOneByOne) {
  EXPECT_EQ(day_and_night(Costs::real()).layouts(),
            (Lines{"0 7 -> 7",
                   "60 empty -> 4-3",      // Destroying the 7g, .22 s.
                   "60.42 3 -> 4-3",       // Created in .20 s.
                   "60.63 4-3 -> 4-3"}));  // Created in .21 s.
}

TEST(Records, UnderFreeCostsARepartitionIsOneRecord) {
  EXPECT_EQ(day_and_night(Costs::free()).layouts(), (Lines{"0 7 -> 7", "60 4-3 -> 4-3"}));
}

TEST(Records, PowerFallsAtTheEndOfTheLinger) {
  EXPECT_EQ(day_and_night(Costs::real()).power(),
            (Lines{"0 40", "0 248.5", "10 76", "11.4 40", "70 243.9", "80 76"}));
  EXPECT_EQ(day_and_night(Costs::free()).power(),
            (Lines{"0 40", "0 248.5", "10 40", "70 243.9", "80 40"}));
}

TEST(Records, PowerFallsAgainWhereBoardsMaySleep) {
  Costs costs = Costs::real();
  costs.power_down_after_us = to_us(30);
  costs.off_w = 5;
  EXPECT_EQ(day_and_night(costs).power(),
            (Lines{"0 40", "0 248.5", "10 76", "11.4 40", "40 5", "70 243.9", "80 76"}));
}

TEST(Records, AStayIsAJobOnASliceForAWhile) {
  EXPECT_EQ(day_and_night(Costs::real()).stays(),
            (Lines{"0-10 job 0 on 7@0", "70-80 job 1 on 4@0"}));
}

TEST(Records, AStayEndsWhereTheJobIsMovedOrItsBoardFails) {
  // The second job is due first and takes the GPU; then the board is gone from 6 to 8 s, and
  // with it what was done since 5 s.
  const Recorded run("none/edf", {recorded_job(0, 10, 100), recorded_job(2, 3, 10)}, Costs::free(),
                     Preemption::kFree, {{to_us(6), 0, true}, {to_us(8), 0, false}});
  EXPECT_EQ(run.stays(), (Lines{"0-2 job 0 on 7@0", "2-5 job 1 on 7@0", "5-6 job 0 on 7@0",
                                "8-16 job 0 on 7@0"}));
}

TEST(Records, NobodyStaysTwiceAtOnceAndEveryJobStaysToItsEnd) {
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(recorded_job(i * 3, 20 + i % 7, i * 3 + 60 - i % 11));
  const Recorded run("count/cedf", jobs, Costs::free(), Preemption::kFree);
  std::map<JobIndex, TimeUs> until;
  std::map<SliceId, TimeUs> taken_until;
  std::vector<StayRecord> stays(run.records().stays().begin(), run.records().stays().end());
  std::sort(stays.begin(), stays.end(),
            [](const StayRecord& a, const StayRecord& b) { return a.begin_us < b.begin_us; });
  for (const StayRecord& stay : stays) {
    EXPECT_LT(stay.begin_us, stay.end_us);
    EXPECT_GE(stay.begin_us, until[stay.job]);
    EXPECT_GE(stay.begin_us, taken_until[stay.slice]);
    until[stay.job] = stay.end_us;
    taken_until[stay.slice] = stay.end_us;
  }
  for (JobIndex job = 0; job < jobs.size(); ++job)
    EXPECT_EQ(until[job], run.engine.finish_us()[job]);
}

TEST(Records, TheTimelineSumsToTheRun) {
  const Recorded run = day_and_night(Costs::real());
  ASSERT_EQ(run.records().timeline().size(), 1u);
  const TimelineRecord means = run.records().means();
  EXPECT_NEAR(means.utilisation, (10 * 7 + 10 * 4) / (80.0 * 7), 1e-12);
  EXPECT_NEAR(means.fragmentation, 0, 1e-12);
  EXPECT_EQ(means.waiting, 0);
  const double energy = 10 * 248.5 + 1.4 * 76 + 58.6 * 40 + 10 * 243.9;
  EXPECT_NEAR(means.power_w, energy / 80, 1e-9);
  EXPECT_NEAR(run.engine.energy_j(), energy, 1e-9);
}

TEST(Records, TheTimelineIsCutIntoFiveMinutes) {
  const Recorded run("none/edf", {recorded_job(1000, 400)});
  const auto timeline = run.records().timeline();
  ASSERT_EQ(timeline.size(), 2u) << "bins count from the first submit";
  EXPECT_NEAR(timeline[1].utilisation, 1, 1e-12)
      << "the mean over the 100 s that belong to the run";
  const Recorded gap("none/edf", {recorded_job(0, 150), recorded_job(450, 300)});
  ASSERT_EQ(gap.records().timeline().size(), 3u);
  EXPECT_NEAR(gap.records().timeline()[0].utilisation, 0.5, 1e-12);
  EXPECT_NEAR(gap.records().timeline()[1].power_w, (40 + 248.5) / 2, 1e-9);
}

TEST(Records, FragmentationIsWhatNoSingleSliceCouldUse) {
  // Beside a 3g at 0 four compute slices are idle, but the largest slice there is room for is a 3g.
  const Recorded run("static:3-3/first-fit", {recorded_job(0, 10)});
  EXPECT_NEAR(run.records().means().fragmentation, 1.0 / 4, 1e-12);
}

TEST(Records, WaitingJobsAreCounted) {
  const Recorded run("none/edf", {recorded_job(0, 10), recorded_job(0, 10), recorded_job(0, 10)});
  EXPECT_NEAR(run.records().means().waiting, (2 * 10 + 1 * 10 + 0) / 30.0, 1e-12);
}

TEST(Records, AJobsStartSliceAndNumberOfStarts) {
  // The second job has the earlier deadline: under free preemption it takes the slice at 4 s, the
  // first one goes on at 9.
  const Recorded run("none/edf", {recorded_job(0, 10, 50), recorded_job(4, 5, 10)}, Costs::free(),
                     Preemption::kFree);
  const JobRecord& first = run.records().jobs()[0];
  EXPECT_EQ(first.first_start_us, 0);
  EXPECT_EQ(first.starts, 2);
  EXPECT_EQ(run.records().jobs()[1].first_start_us, to_us(4));
  EXPECT_EQ(run.records().jobs()[1].starts, 1);
  EXPECT_EQ(run.engine.finish_us()[0], to_us(15));
  EXPECT_EQ(run.fleet.kinds()[first.kind].compute, 7);
  EXPECT_EQ(first.slice, 0u);
}

TEST(Records, AFailureAndAReturnAreLayoutChanges) {
  const Recorded run("none/edf", {recorded_job(0, 10)}, Costs::real(), Preemption::kOff,
                     {{to_us(4), 0, true}, {to_us(6), 0, false}});
  EXPECT_EQ(run.layouts(), (Lines{"0 7 -> 7", "4 empty -> 7 down", "6 empty -> 7", "6.24 7 -> 7"}));
  EXPECT_EQ(run.power(), (Lines{"0 40", "0 248.5", "4 0", "6 40", "6.24 248.5", "16.24 76"}));
  EXPECT_EQ(run.records().jobs()[0].starts, 2);
}

}  // namespace
}  // namespace smartmig
