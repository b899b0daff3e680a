// Ends of runs that the controller hears of late: because the fleet's events cannot be received,
// because a look at the GPU arrives first, or because the job was queued or started again
// meanwhile.
#include <gtest/gtest.h>

#include "live_desk.h"

namespace smartmig {
namespace {

class LiveEnds : public LiveDesk {
 protected:
  void lose_events() {
    rig_.tell_fleet(R"("op":"inject","call":"events","code":"unreachable","times":0)");
    // Ends the call that waits for an event.
    rig_.tell_fleet(R"("op":"reboot","gpu":1)");
    ASSERT_TRUE(wait_until([&] { return !controller_->summary().trouble.empty(); }));
  }
  void clear_faults() { rig_.tell_fleet(R"("op":"clear")"); }
  bool apply(const std::string& gpu, const std::string& layout) {
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{gpu, layout}};
    return controller_->command(command, "test").has_value();
  }
  bool hardware_has(const std::string& slice) {
    for (const GpuReading& gpu : rig_.readings()) {
      for (const SliceReading& there : gpu.slices) {
        if (there.uuid == slice) return true;
      }
    }
    return false;
  }
  // On GPU 0, which has the layout; the other GPU is cordoned and no decision is made any more.
  // The run must last until the caller has done what it has to do meanwhile: the slow steps come
  // before it starts.
  JobNumber run_alone(const std::string& layout, double work_s) {
    options_.setup.policy = fmt::format("static:{},7/cedf", layout);
    start();
    EXPECT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
    EXPECT_TRUE(wait_until([&] {
      return controller_->gpu("0")->layout == layout && every_intent_is_closed(rig_.state_dir());
    }));
    const JobNumber job = submit(job_of(work_s, 1e6));
    EXPECT_TRUE(comes_to(job, JobPhase::kRunning));
    EXPECT_EQ(gpu_of(run_of(job, 1)), 0);
    EXPECT_TRUE(tell(Command::Kind::kFreeze).has_value());
    return job;
  }
  // The job's first run has ended, which the controller has not heard of. Its second attempt has a
  // number and never ran.
  JobNumber end_unheard_and_fail_the_next_start(LateToTell& driver) {
    const JobNumber job = submit(job_of(1500, 60000));
    is_over_unheard(driver, job, false);
    if (HasFatalFailure()) return job;
    rig_.tell_fleet(R"("op":"inject","call":"start","code":"no-permission","times":0)");
    EXPECT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
    EXPECT_TRUE(
        wait_until([&] { return row(job).attempt >= 2 && row(job).phase == JobPhase::kQueued; }));
    return job;
  }
  static std::string run_of(JobNumber job, int attempt) {
    return fmt::format("{}.{}", job, attempt);
  }
  // By the fleet's ledger.
  std::string outcome_of(const std::string& run) {
    const auto page = rig_.tell_fleet(R"("op":"audit","after":0,"limit":1000)");
    for (const auto& row : page.at("runs")) {
      if (row.at(1) == run) return row.at(6);
    }
    return "never begun";
  }
  void expect_all_is_well() {
    controller_.reset();
    EXPECT_EQ(wrong_runs(rig_), "");
    EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
  }
};

// The slice is idle on the board, since its run has ended, and only our books say that a job is on
// it.
TEST_F(LiveEnds, ARetryLeavesASliceAloneWhoseRunHasEndedUnheard) {
  // The run takes 7.6 s of the host's clock on a 1g slice. The retry comes 14.4 s after the fault,
  // which is injected within the run: the run ends before.
  options_.retry_first_s = options_.retry_most_s = 7200;
  const JobNumber job = run_alone("1-1-1-1-1-1-1", 800);
  const std::string slice = row(job).slice;
  ASSERT_NO_FATAL_FAILURE(lose_events());
  rig_.tell_fleet(R"("op":"inject","gpu":0,"call":"destroy","code":"no-permission")");
  ASSERT_TRUE(apply("0", "3-3"));
  ASSERT_TRUE(wait_until([&] { return controller_->gpu("0")->state == "fenced"; }));
  ASSERT_TRUE(wait_until([&] { return gpu_of(run_of(job, 1)) < 0; }));
  ASSERT_EQ(controller_->gpu("0")->layout, "1-1-1-1-1-1-1") << "the retry came before the end";
  ASSERT_TRUE(wait_until([&] { return controller_->gpu("0")->layout != "1-1-1-1-1-1-1"; }));
  EXPECT_TRUE(hardware_has(slice));
  EXPECT_EQ(row(job).phase, JobPhase::kRunning);
  // What has no room beside the job waits for it, although the policy is frozen.
  clear_faults();
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
  EXPECT_TRUE(wait_until([&] {
    return controller_->gpu("0")->layout == "3-3" && rig_.readings()[0].slices.size() == 2;
  })) << controller_->gpu("0")->layout;
  EXPECT_EQ(controller_->counters().lost_runs, 0);
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
  expect_all_is_well();
}

// A look shows that the slice is gone. How its run ended only the events tell.
TEST_F(LiveEnds, AJobWhoseSliceIsGoneIsNotQueuedAgainBeforeTheEventsAreReceived) {
  const JobNumber job = run_alone("3-3", 1500);
  const std::string slice = row(job).slice;
  ASSERT_NO_FATAL_FAILURE(lose_events());
  ASSERT_TRUE(wait_until([&] { return gpu_of(run_of(job, 1)) < 0; }));
  rig_.tell_fleet(fmt::format(R"("op":"foreign-destroy","gpu":0,"slice":"{}")", slice));
  ASSERT_TRUE(tell(Command::Kind::kAdopt, "0").has_value());  // Asks for a look.
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->trouble.find("events") != std::string::npos ||
           row(job).phase == JobPhase::kQueued;
  }));
  EXPECT_EQ(row(job).phase, JobPhase::kRunning);
  EXPECT_EQ(controller_->gpu("0")->state, "fenced");
  clear_faults();
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
  EXPECT_EQ(row(job).lost_us, 0);
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("0")->state == "up"; }));
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
  expect_all_is_well();
}

TEST_F(LiveEnds, AJobWhoseSliceVanishedUnderItIsQueuedAgainOnceTheEventsAreReceived) {
  const JobNumber job = run_alone("3-3", 4000);
  ASSERT_NO_FATAL_FAILURE(lose_events());
  rig_.tell_fleet(R"("op":"reboot","gpu":0)");
  ASSERT_TRUE(tell(Command::Kind::kAdopt, "0").has_value());
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->trouble.find("events") != std::string::npos ||
           row(job).phase == JobPhase::kQueued;
  }));
  EXPECT_EQ(row(job).phase, JobPhase::kRunning);
  clear_faults();
  EXPECT_TRUE(comes_to(job, JobPhase::kQueued));
  EXPECT_GT(row(job).lost_us, 0);
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 2);
  expect_all_is_well();
}

TEST_F(LiveEnds, AnEndCountsAfterTheNextStartHasFailed) {
  LateToTell& driver = start_late();
  const JobNumber job = end_unheard_and_fail_the_next_start(driver);
  ASSERT_FALSE(HasFailure());
  driver.mute = false;
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  clear_faults();
  expect_all_is_well();
}

TEST_F(LiveEnds, AnEndThatTheNextControllerHearsOfCountsAfterAStartHasFailed) {
  const JobNumber job = end_unheard_and_fail_the_next_start(start_late());
  ASSERT_FALSE(HasFailure());
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  clear_faults();
  restart();
  EXPECT_EQ(row(job).phase, JobPhase::kDone);
  expect_all_is_well();
}

// Its work is done, whatever was started since: that is killed.
TEST_F(LiveEnds, AnEndThatIsHeardOfWhileTheJobRunsAgainEndsTheOtherRun) {
  for (const bool by_the_next_controller : {false, true}) {
    SCOPED_TRACE(by_the_next_controller);
    LateToTell& driver = start_late();
    const JobNumber job = submit(job_of(2000, 60000));
    ASSERT_NO_FATAL_FAILURE(is_over_unheard(driver, job, false));
    ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
    ASSERT_TRUE(wait_until([&] { return gpu_of(run_of(job, 2)) >= 0; }));
    if (by_the_next_controller) {
      restart();
    } else {
      driver.mute = false;
    }
    EXPECT_TRUE(comes_to(job, JobPhase::kDone));
    EXPECT_TRUE(wait_until([&] { return gpu_of(run_of(job, 2)) < 0; }));
    EXPECT_EQ(outcome_of(run_of(job, 2)), "killed");
    EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
    EXPECT_TRUE(
        wait_until([&] { return difference(*controller_->look(), rig_.readings()).empty(); }));
    controller_.reset();
    EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
  }
}

// The run is overdue: a look tells that there is none.
TEST_F(LiveEnds, AStartThatWasNotMadeIsNoticedWhenTheRunShouldBeOver) {
  LateToTell& driver = start_late();
  driver.next_start_in_vain = true;
  const JobNumber job = submit(job_of(100, 60000));
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 2);
  EXPECT_EQ(outcome_of(run_of(job, 1)), "never begun");
  expect_all_is_well();
}

// --- whether events are received

// Promised: within 2 s of the fleet's being reachable again, however long it was not.
TEST_F(LiveEnds, EventsThatAreRefusedAreReportedAndReceivedAgainSoon) {
  start();
  ASSERT_TRUE(wait_until([&] { return controller_->ready(); }));
  ASSERT_NO_FATAL_FAILURE(lose_events());
  EXPECT_EQ(controller_->why_not_ready(), "the fleet's events are not received");
  EXPECT_NE(controller_->summary().trouble.find("unreachable"), std::string::npos)
      << controller_->summary().trouble;
  EXPECT_FALSE(controller_->summary().events_received);
  std::this_thread::sleep_for(std::chrono::seconds(4));  // Several calls in vain.
  EXPECT_FALSE(controller_->ready());
  clear_faults();
  EXPECT_TRUE(wait_until([&] { return controller_->ready(); }, 20 * 2));
  EXPECT_TRUE(wait_until([&] { return controller_->summary().trouble.empty(); }));
  EXPECT_TRUE(controller_->summary().events_received);
}

// The call has not come back, nor been given up: the clock alone tells. Promised: after 5 s.
TEST_F(LiveEnds, ACallForEventsThatHangsIsReportedByTheClock) {
  options_.call_timeout_s = 3600;
  start();
  ASSERT_TRUE(wait_until([&] { return controller_->ready(); }));
  rig_.tell_fleet(R"("op":"inject","call":"events","hang":true,"times":0)");
  EXPECT_TRUE(wait_until([&] { return !controller_->ready(); }, 10 * 5));
  EXPECT_NE(controller_->summary().trouble.find("does not answer"), std::string::npos)
      << controller_->summary().trouble;
  rig_.restart_fleet();  // Which ends the call.
  EXPECT_TRUE(wait_until([&] { return controller_->ready(); }, 20 * 2));
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
}

}  // namespace
}  // namespace smartmig
