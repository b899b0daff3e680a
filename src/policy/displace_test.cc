#include "policy/displace.h"

#include <gtest/gtest.h>

#include "policy/situation.h"

namespace smartmig {
namespace {

// Stops and starts, as text: "stop 1, job 2 on 0:3@4".
std::string displaced(Situation& situation) {
  View view = situation.view();
  situation.decision.clear();
  DisplacementRoom room;
  displace(view, room, situation.decision);
  std::string text;
  for (const JobIndex job : situation.decision.stops) text += fmt::format("stop {}, ", job);
  for (const Start& start : situation.decision.starts) {
    text += fmt::format("job {} on {}, ", start.job, situation.name(start));
  }
  return text.empty() ? "nothing" : text.substr(0, text.size() - 2);
}

// One GPU as 4-3 with jobs 0 on its 4g and 1 on its 3g, and the rest waiting.
struct OnFourThree : Situation {
  explicit OnFourThree(std::vector<Job> given, const Costs& costs = Costs::free())
      : Situation("A100-40GB", "4-3", std::move(given), "static:4-3/edf", Preemption::kCheckpoint,
                  costs) {
    run(0, 0, 0);
    run(1, 0, 4);
    arrive(2, static_cast<JobIndex>(jobs.size()) - 1);
  }
};

TEST(Displace, ChoosesTheVictimWithTheLargestFall) {
  // Job 2 would end at 110 s, 80 late. In place of job 0 it ends at 10, but job 0 then at 110, 10
  // late: a fall of 70. In place of job 1 it ends at 20, on time, and job 1 has slack: a fall
  // of 80.
  OnFourThree on({flat_job(100, 100, kTraining), flat_job(100, 1000, kTraining),
                  make_job({40, 30, 20, 10, 5}, 30)});
  EXPECT_EQ(displaced(on), "stop 1, job 2 on 0:3@4");
}

TEST(Displace, CountsTheTardinessOfTheVictim) {
  // As above, but job 1 is as pressed as job 0: 80 - 20 against 80 - 10.
  OnFourThree on({flat_job(100, 100, kTraining), flat_job(100, 100, kTraining),
                  make_job({40, 30, 20, 10, 5}, 30)});
  EXPECT_EQ(displaced(on), "stop 0, job 2 on 0:4@0");
}

TEST(Displace, DoesNothingWhereTheSumWouldNotFall) {
  // Job 2 would be 5 late; whoever makes way for 95 s is later than that.
  OnFourThree on({flat_job(100, 100, kTraining), flat_job(100, 100, kTraining), flat_job(95, 190)});
  EXPECT_EQ(displaced(on), "nothing");
}

TEST(Displace, LeavesInferenceAloneUnlessItsColumnSaysOtherwise) {
  std::vector<Job> jobs = {flat_job(100, 1000), flat_job(100, 1000), flat_job(10, 20)};
  OnFourThree fixed(jobs);
  EXPECT_EQ(displaced(fixed), "nothing");
  jobs[1].preemptible = Preemptible::kYes;
  OnFourThree movable(jobs);
  EXPECT_EQ(displaced(movable), "stop 1, job 2 on 0:3@4");
}

TEST(Displace, AJobThatIsOnTimeOnAFreeSliceDisplacesNobody) {
  for (const double deadline_s : {10.0, 9.0}) {
    Situation on("A100-40GB", "4-3",
                 {flat_job(100, 1000, kTraining), make_job({10, 10, 10, 5, 5}, deadline_s)},
                 "static:4-3/edf", Preemption::kCheckpoint);
    on.run(0, 0, 0);
    on.arrive(1, 1);
    EXPECT_EQ(displaced(on), deadline_s == 10 ? "nothing" : "stop 0, job 1 on 0:4@0") << deadline_s;
  }
}

TEST(Displace, CarriesOutTheLargestFallFirstThenWhatIsLeft) {
  // Job 3 gains more than job 2, and takes the 4g, where it is fast; job 2 gets what is left.
  OnFourThree on({flat_job(100, 1000, kTraining), flat_job(100, 1000, kTraining), flat_job(10, 50),
                  make_job({40, 40, 40, 20, 20}, 20)});
  EXPECT_EQ(displaced(on), "stop 0, stop 1, job 3 on 0:4@0, job 2 on 0:3@4");
}

TEST(Displace, TiesGoToTheLowestJobThenTheLowestSlice) {
  OnFourThree on({flat_job(100, 1000, kTraining), flat_job(100, 1000, kTraining), flat_job(10, 20),
                  flat_job(10, 20)});
  EXPECT_EQ(displaced(on), "stop 0, stop 1, job 2 on 0:4@0, job 3 on 0:3@4");
}

TEST(Displace, TheTimeToSaveCounts) {
  // 12 s after 5 s of saving are on time by 17 s; with a deadline of 16 there is still a fall. A
  // job that would end at 101 s anyway, a second late, gains nothing from making somebody save.
  const Job training = flat_job(100, 1000, kTraining);
  OnFourThree real({training, training, flat_job(12, 16)}, Costs::real());
  EXPECT_EQ(displaced(real), "stop 0, job 2 on 0:4@0");
  Situation brief("A100-40GB", "7", {flat_job(3, 1000, kTraining), flat_job(12, 14)}, "none/edf",
                  Preemption::kCheckpoint, Costs::real());
  brief.run(0, 0, 0);
  brief.arrive(1, 1);
  EXPECT_EQ(displaced(brief), "nothing") << "waiting ends it at 15 s, a save first at 17 s";
  Situation free("A100-40GB", "7", {flat_job(3, 1000, kTraining), flat_job(12, 14)}, "none/edf",
                 Preemption::kCheckpoint, Costs::free());
  free.run(0, 0, 0);
  free.arrive(1, 1);
  EXPECT_EQ(displaced(free), "stop 0, job 1 on 0:7@0") << "without a save it ends at 12 s";
}

TEST(Displace, ASliceThatAnotherJobWaitsForIsNotToBeHad) {
  OnFourThree on(
      {flat_job(100, 1000, kTraining), flat_job(100, 1000), flat_job(10, 20), flat_job(10, 20)},
      Costs::real());
  ASSERT_EQ(displaced(on), "stop 0, job 2 on 0:4@0");
  on.state.stop(0);
  on.state.start(on.decision.starts[0]);
  EXPECT_EQ(displaced(on), "nothing") << "job 0 saves, and its slice is promised";
}

}  // namespace
}  // namespace smartmig
