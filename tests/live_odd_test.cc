// What goes wrong around a live controller while it runs: jobs that do not obey, slices that vanish
// or are somebody else's, answers that come late, a clock that is set, a disk that is full.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "control/steps.h"
#include "host_faults.h"
#include "live_desk.h"

namespace smartmig {
namespace {

using LiveOdd = LiveDesk;

// A name that a controller has used whose journal is lost.
TEST_F(LiveOdd, ARunWhoseNameWasUsedBeforeGetsAnother) {
  start();
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"start\",\"code\":\"already-ran\"");
  const JobNumber job = submit(job_of(10, 600));
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 2);
  EXPECT_EQ(controller_->counters().fences, 0);
}

// Slices with media engines are no place for jobs: nobody cuts them by hand, and where somebody
// else has, a job of ours beside them runs on over a restart.
TEST_F(LiveOdd, ASliceThatNoJobMayBeOnIsFencedAndNotOursToMake) {
  options_ = rig_.options("static:3-2,3-2/cedf");
  start();
  Command apply;
  apply.kind = Command::Kind::kApply;
  apply.layouts = {{"0", "1g.5gb+me"}};
  EXPECT_EQ(controller_->command(apply, "test").error().status, 400);
  const JobNumber job = submit(job_of(3000, 90000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const int where = gpu_of(fmt::format("{}.1", job));
  ASSERT_GE(where, 0);
  const Board& board = **BoardTable::shipped().find("A100-40GB");
  const SlotSet used = slots_of(rig_.readings().at(static_cast<std::size_t>(where)));
  int slot = 0;
  while (board.profiles[board.slots.at(static_cast<std::size_t>(slot)).profile].name !=
             "1g.5gb+me" ||
         !can_add(board, used, slot))
    ++slot;
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":{},\"slot\":{}", where, slot));
  const auto fenced = [&] { return controller_->gpu(std::to_string(where))->state == "fenced"; };
  EXPECT_TRUE(wait_until(fenced));
  restart();
  EXPECT_TRUE(fenced());
  EXPECT_EQ(row(job).phase, JobPhase::kRunning);
  EXPECT_EQ(row(job).attempt, 1);
}

TEST_F(LiveOdd, AJobThatWillNotStopKeepsItsSliceAndIsNotStartedElsewhere) {
  start();
  rig_.tell_fleet("\"op\":\"behave\",\"ignore_stop_s\":-1");
  const JobNumber job = submit(job_of(3000, 90000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const auto where = [&]() -> std::string {
    const auto seen = controller_->look();
    for (const GpuView& gpu : seen->gpus) {
      for (const SliceView& slice : gpu.slices) {
        if (slice.job == job) return fmt::format("{} {}", gpu.index, slice.state);
      }
    }
    return "nowhere";
  };
  const std::string gpu = where().substr(0, 1);
  ASSERT_TRUE(tell(Command::Kind::kDrain, gpu).has_value());
  EXPECT_TRUE(wait_until([&] { return where() == gpu + " fenced"; })) << where();
  restart();
  EXPECT_TRUE(wait_until([&] { return where() == gpu + " fenced"; })) << where();
  EXPECT_EQ(row(job).attempt, 1);
  ASSERT_TRUE(controller_->cancel(job, "test", "").has_value());
  EXPECT_TRUE(comes_to(job, JobPhase::kCancelled));
  EXPECT_EQ(wrong_runs(rig_), "");
}

TEST_F(LiveOdd, ARunThatOutlivesItsKillKeepsItsSliceAndIsKilledAgain) {
  LateToTell& driver = start_late();
  driver.kills_in_vain = true;
  JobRequest overruns = job_of(1e6, 1e7);
  overruns.max_runtime_s = 50;
  const JobNumber bounded = submit(overruns);
  const JobNumber cancelled = submit(job_of(1e6, 1e7));
  ASSERT_TRUE(comes_to(cancelled, JobPhase::kRunning));
  ASSERT_TRUE(controller_->cancel(cancelled, "test", "").has_value());
  const auto fenced_slices = [&] {
    int count = 0;
    const auto seen = controller_->look();
    for (const GpuView& gpu : seen->gpus) {
      for (const SliceView& slice : gpu.slices)
        count += slice.state == "fenced" && (slice.job == bounded || slice.job == cancelled);
    }
    return count;
  };
  EXPECT_TRUE(wait_until([&] { return fenced_slices() == 2; }));
  EXPECT_EQ(row(cancelled).attempt, 1);
  EXPECT_EQ(row(bounded).attempt, 1);
  driver.kills_in_vain = false;
  EXPECT_TRUE(comes_to(cancelled, JobPhase::kCancelled));
  EXPECT_TRUE(comes_to(bounded, JobPhase::kFailed));
}

TEST_F(LiveOdd, VanishedSlicesPutJobsBackToTheirLastCheckpoint) {
  start();
  const JobNumber job = submit(job_of(1000, 90000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  rig_.tell_fleet(fmt::format("\"op\":\"reboot\",\"gpu\":{}", gpu_of(fmt::format("{}.1", job))));
  EXPECT_TRUE(wait_until([&] { return row(job).attempt == 2; }));
  EXPECT_GT(row(job).lost_us, 0);
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 2);
  EXPECT_EQ(wrong_runs(rig_), "");
}

// The other GPU's slice may be tried before a look at it tells that it is gone as well.
TEST_F(LiveOdd, JobsGoOnWhereAllSlicesVanishAtOnce) {
  start();
  const JobNumber job = submit(job_of(1000, 90000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  rig_.tell_fleet("\"op\":\"reboot\"");
  EXPECT_TRUE(wait_until([&] { return row(job).attempt >= 2; }));
  const TimeUs lost_us = row(job).lost_us;
  EXPECT_GT(lost_us, 0);
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_LE(row(job).attempt, 3);
  EXPECT_EQ(row(job).lost_us, lost_us);
  EXPECT_EQ(wrong_runs(rig_), "");
}

// A job that has ended is not done again because its slice is found gone first.
TEST_F(LiveOdd, AnEndThatIsHeardOfAfterTheSliceIsGoneCounts) {
  LateToTell& driver = start_late();
  const JobNumber job = submit(job_of(500, 6000));
  ASSERT_NO_FATAL_FAILURE(is_over_unheard(driver, job, false));
  driver.mute = false;
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
}

TEST_F(LiveOdd, AnEndThatTheNextControllerHearsOfAfterTheSliceIsGoneCounts) {
  LateToTell& driver = start_late();
  const JobNumber job = submit(job_of(500, 6000));
  ASSERT_NO_FATAL_FAILURE(is_over_unheard(driver, job, false));
  restart();
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
}

// Nor is what it has saved lost.
TEST_F(LiveOdd, ASaveThatIsHeardOfAfterTheSliceIsGoneCounts) {
  LateToTell& driver = start_late();
  const JobNumber job = submit(saving_job());
  ASSERT_NO_FATAL_FAILURE(is_over_unheard(driver, job, true));
  EXPECT_EQ(row(job).left, 1);
  EXPECT_GT(row(job).lost_us, 0);
  driver.mute = false;
  EXPECT_TRUE(wait_until([&] { return row(job).left < 1; }));
  EXPECT_EQ(row(job).lost_us, 0);
  EXPECT_EQ(row(job).note, "its slice vanished after it had saved");
}

TEST_F(LiveOdd, ASaveThatTheNextControllerHearsOfAfterTheSliceIsGoneCounts) {
  LateToTell& driver = start_late();
  const JobNumber job = submit(saving_job());
  ASSERT_NO_FATAL_FAILURE(is_over_unheard(driver, job, true));
  EXPECT_EQ(row(job).left, 1);
  restart();
  EXPECT_LT(row(job).left, 1);
  EXPECT_EQ(row(job).lost_us, 0);
  EXPECT_EQ(row(job).note, "its slice vanished after it had saved");
  EXPECT_EQ(controller_->counters().lost_runs, 0) << "nor any";
}

// A more urgent job wants its slice before the call that starts it has answered.
TEST_F(LiveOdd, AStartThatFailsAfterItsJobWasToldToStopLeavesNobodyWaiting) {
  start();
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  rig_.tell_fleet(
      "\"op\":\"inject\",\"call\":\"start\",\"delay_s\":0.5,\"code\":\"no-permission\"");
  JobRequest request = job_of(1e5, 1e6);
  request.profile = "bert-training";
  const JobNumber displaced = submit(request);
  ASSERT_TRUE(comes_to(displaced, JobPhase::kStarting));
  request = job_of(200, 300);
  request.profile = "bert-inference";
  const JobNumber urgent = submit(request);
  ASSERT_TRUE(comes_to(displaced, JobPhase::kSaving));
  EXPECT_TRUE(comes_to(urgent, JobPhase::kDone));
  EXPECT_TRUE(wait_until([&] { return row(displaced).phase == JobPhase::kRunning; }));
}

// What happens while a look is on its way was not seen by it.
TEST_F(LiveOdd, ALookThatAnEventOvertakesIsFollowedByAnother) {
  options_ = rig_.options("static:3-2,3-2/cedf");
  options_.call_timeout_s = 60;
  LateToTell& driver = start_late();
  ASSERT_TRUE(wait_until([&] {
    const auto readings = rig_.readings();
    return readings.at(0).slices.size() == 2 && readings.at(1).slices.size() == 2 &&
           difference(*controller_->look(), readings).empty();
  }));
  const Board& board = **BoardTable::shipped().find("A100-40GB");
  const SlotSet used = slots_of(rig_.readings().at(0));
  int slot = 0;
  while (!can_add(board, used, slot)) ++slot;
  ASSERT_TRUE(tell(Command::Kind::kCordon, "0").has_value());
  driver.holds = true;
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":0,\"slot\":{}", slot));
  ASSERT_EQ(driver.looked.get_future().wait_for(kPatience), std::future_status::ready);
  std::string theirs;
  const GpuReading reading = rig_.readings().at(0);
  for (const SliceReading& slice : reading.slices) {
    if (slice.slot == slot) theirs = slice.uuid;
  }
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-destroy\",\"gpu\":0,\"slice\":\"{}\"", theirs));
  // The controller has heard of it once it knows of what came later, on the other GPU.
  ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  driver.let_go.set_value();
  // The late answer is there once something else has been done on that GPU.
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "0").has_value());
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("0")->slices.size() == 2; }));
}

TEST_F(LiveOdd, AWallClockThatIsSetChangesNothing) {
  start();
  const JobNumber before = submit(job_of(10, 60));
  ASSERT_TRUE(comes_to(before, JobPhase::kDone));
  for (const int hours : {-1, 1}) {
    SCOPED_TRACE(hours);
    JobRequest request = job_of(500, 3000);
    request.max_runtime_s = 3000;
    const JobNumber job = submit(request);
    ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
    const std::time_t real = std::time(nullptr);
    const ShiftedWallClock shifted{std::chrono::hours(hours)};
    ASSERT_NEAR(static_cast<double>(std::time(nullptr) - real), 3600.0 * hours, 5);
    // The pause of a fence passes.
    rig_.tell_fleet("\"op\":\"inject\",\"gpu\":1,\"call\":\"create\",\"code\":\"no-permission\"");
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{"1", "7"}};
    const auto fences = controller_->counters().fences;
    ASSERT_TRUE(controller_->command(command, "test").has_value());
    ASSERT_TRUE(wait_until([&] { return controller_->counters().fences > fences; }));
    EXPECT_TRUE(wait_until([&] { return controller_->gpu("1")->state == "up"; }));
    EXPECT_TRUE(comes_to(job, JobPhase::kDone));
    // It was neither cut short nor thought to have run for an hour of the host's.
    const JobRow ended = row(job);
    EXPECT_LT(ended.end_us - ended.start_us, to_us(3000));
    EXPECT_EQ(ended.attempt, 1);
    restart();  // It may be set while no controller runs, too.
    EXPECT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  }
  controller_.reset();
  EXPECT_EQ(wrong_runs(rig_), "");
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveOdd, AFullDiskRefusesSubmissionsAndLetsJobsGoOn) {
  start();
  ASSERT_TRUE(wait_until([&] {
    const auto readings = rig_.readings();
    return readings[0].slices.size() == 1 && readings[1].slices.size() == 2;
  }));
  const JobNumber running = submit(job_of(500, 3000));
  ASSERT_TRUE(comes_to(running, JobPhase::kRunning));
  {
    const FullDisk full;
    for (int i = 0; i < 3; ++i) {
      const auto refused = controller_->submit(job_of(10, 60), "test");
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().status, 503);
    }
    EXPECT_FALSE(controller_->ready());
    EXPECT_NE(controller_->summary().trouble.find("disk is full"), std::string::npos)
        << controller_->summary().trouble;
    const auto told = tell(Command::Kind::kFreeze);
    ASSERT_FALSE(told.has_value());
    EXPECT_EQ(told.error().status, 503);
    // The job comes to its end on the fleet, and nobody can write so.
    EXPECT_TRUE(wait_until([&] {
      const auto readings = rig_.readings();
      return readings[0].slices.at(0).phase == RunPhase::kIdle &&
             readings[1].slices.at(0).phase == RunPhase::kIdle &&
             readings[1].slices.at(1).phase == RunPhase::kIdle;
    }));
    EXPECT_EQ(row(running).phase, JobPhase::kRunning);
    // It waits for room without keeping a core busy.
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20);
  }
  EXPECT_TRUE(comes_to(running, JobPhase::kDone));
  EXPECT_TRUE(wait_until([&] { return controller_->ready(); }));
  EXPECT_EQ(controller_->summary().trouble, "");
  EXPECT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  controller_.reset();
  EXPECT_EQ(wrong_runs(rig_), "");
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

// In our slice's place is another one: its name tells, not where it is.
TEST_F(LiveOdd, AnotherSliceInThePlaceOfOursIsForeign) {
  options_ = rig_.options("static:3-3,3-3/cedf");
  for (const bool while_away : {false, true}) {
    SCOPED_TRACE(while_away);
    if (!controller_) start();
    ASSERT_TRUE(wait_until([&] {
      return rig_.readings()[0].slices.size() == 2 && controller_->gpu("0")->slices.size() == 2;
    }));
    const SliceReading ours = rig_.readings()[0].slices.back();
    if (while_away) controller_.reset();
    rig_.tell_fleet(
        fmt::format("\"op\":\"foreign-destroy\",\"gpu\":0,\"slice\":\"{}\"", ours.uuid));
    rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":0,\"slot\":{}", ours.slot));
    if (while_away) start();
    const auto there = [&] {
      const GpuView gpu = *controller_->gpu("0");
      const auto slice = std::find_if(gpu.slices.begin(), gpu.slices.end(),
                                      [&](const SliceView& one) { return one.slot == ours.slot; });
      return slice == gpu.slices.end() ? SliceView{} : *slice;
    };
    EXPECT_TRUE(wait_until([&] { return there().state == "foreign"; })) << there().state;
    const std::string theirs = there().uuid;
    EXPECT_NE(theirs, ours.uuid);
    // More jobs than our slices: nothing is placed there, and it stays.
    for (int i = 0; i < 6; ++i) {
      const JobNumber job = submit(job_of(20, 60));
      EXPECT_TRUE(comes_to(job, JobPhase::kDone));
      EXPECT_NE(row(job).slice, theirs);
    }
    EXPECT_EQ(there().uuid, theirs);
    ASSERT_TRUE(tell(Command::Kind::kAdopt, "0").has_value());
    EXPECT_TRUE(wait_until([&] { return there().state == "ready"; }));
  }
}

}  // namespace
}  // namespace smartmig
