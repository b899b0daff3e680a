// What operators and clients ask of a live controller, and the limits they set.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "live_desk.h"

namespace smartmig {
namespace {

using LiveOperator = LiveDesk;

// Nothing else happens that policies are asked at.
TEST_F(LiveOperator, AJobThatADrainStoppedGoesOnElsewhere) {
  for (const char* policy : {"greedy", "smartmig"}) {
    SCOPED_TRACE(policy);
    options_.setup.policy = policy;
    restart();
    const JobNumber job = submit(job_of(3000, 90000));
    ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
    const std::string gpu = std::to_string(gpu_of(fmt::format("{}.1", job)));
    ASSERT_TRUE(tell(Command::Kind::kDrain, gpu).has_value());
    EXPECT_TRUE(
        wait_until([&] { return row(job).attempt == 2 && row(job).phase == JobPhase::kRunning; }));
    ASSERT_TRUE(controller_->cancel(job, "test", "").has_value());
    ASSERT_TRUE(comes_to(job, JobPhase::kCancelled));
    ASSERT_TRUE(tell(Command::Kind::kUncordon, gpu).has_value());
  }
}

TEST_F(LiveOperator, ForeignSlicesAreLeftAloneUntilTheyAreAdopted) {
  rig_.tell_fleet("\"op\":\"foreign-create\",\"gpu\":0,\"slot\":0");
  const std::string theirs = rig_.readings()[0].slices.at(0).uuid;
  start();
  const JobNumber job = submit(job_of(10, 60));
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(rig_.readings()[0].slices.at(0).uuid, theirs);
  EXPECT_EQ(controller_->gpu("0")->slices.at(0).state, "foreign");
  restart();
  EXPECT_EQ(controller_->gpu("0")->slices.at(0).state, "foreign");
  ASSERT_TRUE(tell(Command::Kind::kAdopt, "0").has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("0")->slices.at(0).state != "foreign"; }));
}

TEST_F(LiveOperator, CancelWorksInEveryPhaseAndMaxRuntimeEndsARun) {
  const auto cancels = [&](JobNumber job, JobPhase phase) {
    ASSERT_TRUE(comes_to(job, phase)) << to_string(phase);
    ASSERT_TRUE(controller_->cancel(job, "test", "").has_value()) << to_string(phase);
    EXPECT_TRUE(comes_to(job, JobPhase::kCancelled)) << to_string(phase);
  };
  start();
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  cancels(submit(job_of(3000, 90000)), JobPhase::kQueued);
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"start\",\"delay_s\":0.3");
  cancels(submit(job_of(3000, 90000)), JobPhase::kStarting);
  cancels(submit(job_of(3000, 90000)), JobPhase::kRunning);
  JobRequest slow_to_save = job_of(3000, 90000);
  slow_to_save.checkpoint_s = 1000;  // Two seconds here.
  const JobNumber saving = submit(slow_to_save);
  ASSERT_TRUE(comes_to(saving, JobPhase::kRunning));
  for (const char* gpu : {"0", "1"}) ASSERT_TRUE(tell(Command::Kind::kDrain, gpu).has_value());
  cancels(saving, JobPhase::kSaving);
  for (const char* gpu : {"0", "1"}) ASSERT_TRUE(tell(Command::Kind::kUncordon, gpu).has_value());
  JobRequest request = job_of(3000, 90000);
  request.max_runtime_s = 100;
  const JobNumber bounded = submit(request);
  EXPECT_TRUE(comes_to(bounded, JobPhase::kFailed));
  EXPECT_EQ(row(bounded).note, "it ran past its max_runtime_s");
  EXPECT_EQ(wrong_runs(rig_), "");
}

// Six minutes of the fleet, in most of which nothing runs.
TEST_F(LiveOperator, AStartThatTakesLongerThanAJobMayRunIsNoRun) {
  start();
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"start\",\"delay_s\":0.7");
  JobRequest request = job_of(250, 9000);
  request.max_runtime_s = 300;
  EXPECT_TRUE(comes_to(submit(request), JobPhase::kDone));
}

TEST_F(LiveOperator, MoreJobsThanThereMayBeAreRefusedUntilSomeAreOver) {
  options_.most_jobs = 3;
  start();
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  for (int i = 0; i < 3; ++i) (void)submit(job_of(10, 600, fmt::format("key {}", i)));
  const auto refused = controller_->submit(job_of(10, 600), "test");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().status, 503);
  EXPECT_EQ(refused.error().error, "not accepted: 3 jobs wait or run already");
  EXPECT_FALSE(controller_->submit(job_of(10, 600, "key 1"), "test")->created) << "it is there";
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  ASSERT_TRUE(wait_until([&] { return controller_->counters().done == 3; }));
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
}

TEST_F(LiveOperator, AJobThatFitsNoSliceIsRefusedWithTheReason) {
  start();
  JobRequest nowhere = job_of(10, 600);
  nowhere.memory_mib = 100'000;
  for (const auto& refused : {controller_->check(nowhere).map([] { return JobNumber{0}; }),
                              controller_->submit(nowhere, "test").map([](const auto& submitted) {
                                return submitted.id;
                              })}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().status, 400);
    EXPECT_EQ(refused.error().field, "memory_mib");
    EXPECT_NE(refused.error().error.find("needs 100000 MiB"), std::string::npos);
  }
}

TEST_F(LiveOperator, JobsAreExpectedToStartWhereASliceTheyRunOnIsFreeFirst) {
  start();
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->layout == "7" && controller_->gpu("1")->layout == "3-3" &&
           every_intent_is_closed(rig_.state_dir());
  }));
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  for (int i = 1; i <= 5; ++i) (void)submit(job_of(1000 * i, 1000 * i));
  const auto expected = controller_->expectations(100);
  ASSERT_EQ(expected.size(), 5u);
  std::multiset<TimeUs> ends;  // Of those that have the three slices.
  for (const auto& one : expected) {
    EXPECT_GT(one.end_us, one.start_us);
    if (ends.size() < 3) {
      EXPECT_LE(one.start_us, controller_->now_us());
    } else {
      EXPECT_EQ(one.start_us, *ends.begin());
      ends.erase(ends.begin());
    }
    ends.insert(one.end_us);
  }
}

TEST_F(LiveOperator, ChangesAreBoundedByTheHour) {
  options_.setup.limits.changes_per_gpu_hour = 2;
  start();
  ASSERT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
  (void)submit(job_of(1e5, 1e6));  // Somebody gains by a change.
  const auto moved_away = [&] {
    EXPECT_TRUE(tell(Command::Kind::kFreeze).has_value());
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{"1", "7"}};
    EXPECT_TRUE(controller_->command(command, "test").has_value());
    const bool moved = wait_until([&] { return rig_.readings()[1].slices.size() == 1; });
    EXPECT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
    return moved;
  };
  const auto comes_home = [&](double most_s) {
    return wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }, most_s);
  };
  // The operator's changes are not counted, the policy's ways back are.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(moved_away());
    ASSERT_TRUE(comes_home(10));
  }
  EXPECT_EQ(controller_->counters().withheld_budget, 0);
  ASSERT_TRUE(moved_away());
  EXPECT_FALSE(comes_home(0.5));
  EXPECT_GT(controller_->counters().withheld_budget, 0);
  restart();  // It is no way to more.
  (void)submit(job_of(1, 60));
  EXPECT_FALSE(comes_home(0.5));
  EXPECT_GT(controller_->counters().withheld_budget, 0);
  // An hour of the fleet gives room for another.
  EXPECT_TRUE(wait_until([&] {
    (void)submit(job_of(1, 60));
    return comes_home(0.1);
  }));
}

// A change that a policy wants of GPU 1 and that fails again and again, until an operator steps in.
class LiveOperatorTries : public LiveOperator {
 protected:
  void fail_until(const Command::Kind kind, const std::string& gpu) {
    rig_.tell_fleet(
        "\"op\":\"inject\",\"gpu\":1,\"call\":\"create\",\"times\":0,\"code\":\"no-permission\"");
    start();
    (void)submit(job_of(1e5, 1e6));  // Somebody gains by a change.
    ASSERT_TRUE(wait_until([&] { return controller_->counters().rollbacks >= 2; }));
    ASSERT_TRUE(tell(kind, gpu).has_value());
    // One that is under way may still be finished; from here on nothing is.
    ASSERT_TRUE(wait_until([&] { return every_intent_is_closed(rig_.state_dir()); }));
    rig_.tell_fleet("\"op\":\"clear\"");
    EXPECT_TRUE(wait_until([&] { return controller_->gpu("1")->trouble.empty(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(rig_.readings()[1].slices.empty());
  }
};

TEST_F(LiveOperatorTries, OfAChangeEndWithACordon) {
  ASSERT_NO_FATAL_FAILURE(fail_until(Command::Kind::kCordon, "1"));
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "1").has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
}

TEST_F(LiveOperatorTries, OfAChangeEndWithAFreeze) { fail_until(Command::Kind::kFreeze, ""); }

// From two slices to four, one of which takes long enough to do something meanwhile.
class LiveOperatorCordon : public LiveOperator {
 protected:
  void begin_change() {
    start();
    ASSERT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
    ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
    rig_.tell_fleet("\"op\":\"inject\",\"call\":\"create\",\"nth\":2,\"times\":1,\"delay_s\":0.5");
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{"1", "2-2-2-1"}};
    ASSERT_TRUE(controller_->command(command, "test").has_value());
    // The first one is there, the second is being made.
    ASSERT_TRUE(wait_until([&] {
      return rig_.readings()[1].slices.size() >= 1 && controller_->gpu("1")->layout != "3-3" &&
             rig_.tell_fleet("\"op\":\"list\"").at("faults").empty();
    }));
  }
  bool is_done() {
    return wait_until([&] {
      const GpuView gpu = *controller_->gpu("1");
      return gpu.layout == "2-2-2-1" && gpu.state == "cordoned" &&
             rig_.readings()[1].slices.size() == 4 &&
             difference(*controller_->look(), rig_.readings()).empty();
    });
  }
};

TEST_F(LiveOperatorCordon, InTheMiddleOfAChangeFinishesItAndBeginsNoOther) {
  begin_change();
  const auto cordoned = tell(Command::Kind::kCordon, "1");
  ASSERT_TRUE(cordoned.has_value());
  EXPECT_EQ(cordoned->lines.size(), 2U);
  EXPECT_TRUE(is_done()) << controller_->gpu("1")->layout;
  // The policy wants its own layout back, once there is a job to gain by it: not here.
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  EXPECT_EQ(controller_->gpu("1")->layout, "2-2-2-1");
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "1").has_value());
  (void)submit(job_of(10, 60));
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveOperatorCordon, InTheMiddleOfAChangeIsFinishedByTheNextController) {
  begin_change();
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  restart();
  EXPECT_TRUE(is_done()) << controller_->gpu("1")->layout << controller_->gpu("1")->trouble;
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "1").has_value());
  EXPECT_EQ(controller_->gpu("1")->state, "up");
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveOperator, APowerCapStartsNothingStopsNothingAndOutlivesTheController) {
  start();
  const JobNumber running = submit(job_of(1500, 90000));
  ASSERT_TRUE(comes_to(running, JobPhase::kRunning));
  Command cap;
  cap.kind = Command::Kind::kPowerCap;
  cap.power_cap_w = 1;
  ASSERT_TRUE(controller_->command(cap, "test").has_value());
  const JobNumber waiting = submit(job_of(10, 60));
  EXPECT_FALSE(wait_until([&] { return row(waiting).phase != JobPhase::kQueued; }, 0.5));
  restart();
  EXPECT_EQ(controller_->summary().power_cap_w, 1);
  EXPECT_FALSE(wait_until([&] { return row(waiting).phase != JobPhase::kQueued; }, 0.5));
  EXPECT_TRUE(comes_to(running, JobPhase::kDone));
  EXPECT_EQ(row(running).attempt, 1);
  cap.power_cap_w = 0;
  ASSERT_TRUE(controller_->command(cap, "test").has_value());
  EXPECT_TRUE(comes_to(waiting, JobPhase::kDone));
  const auto audit = JournalReader::open(rig_.state_dir())->audit(0, 2);
  ASSERT_TRUE(audit.has_value());
  ASSERT_EQ(audit->size(), 2U);
  EXPECT_EQ(audit->at(0).what, "power cap 0 W");
  EXPECT_EQ(audit->at(1).what, "power cap 1 W");
}

// What can be told of the fleet and of the journal; the clock and what follows from it apart.
std::string everything(const Controller& controller, LiveRig& rig) {
  const FleetView seen = *controller.look();
  std::string text = fmt::format("{} {} {} {} {} {}\n", seen.frozen, seen.recovered, seen.policy,
                                 seen.power_cap_w, seen.queued, seen.running);
  for (const GpuView& gpu : seen.gpus)
    text += fmt::format("{} {} {} {}\n", gpu.layout, gpu.target, gpu.state, gpu.slices.size());
  for (const GpuReading& gpu : rig.readings()) {
    for (const SliceReading& slice : gpu.slices) text += slice.uuid + " " + slice.run + "\n";
  }
  auto journal = JournalReader::open(rig.state_dir());
  std::int64_t events = 0;
  EXPECT_TRUE(journal->each_event(1, [&](const EventRow&) { return ++events > 0; }).has_value());
  return text + fmt::format("{} events, {} decisions, {} intents, {} changes", events,
                            journal->decisions(0, 1000)->size(),
                            journal->intents("", 0, 1000)->size(), journal->audit(0, 1000)->size());
}

TEST_F(LiveOperator, RehearsalsChangeNothing) {
  rig_.tell_fleet("\"op\":\"foreign-create\",\"gpu\":1,\"slot\":0");
  start();
  Command apply;
  apply.kind = Command::Kind::kApply;
  apply.layouts = {{"0", "4-3"}};
  ASSERT_TRUE(controller_->command(apply, "test").has_value());
  ASSERT_TRUE(wait_until([&] { return controller_->gpu("0")->layout == "4-3"; }));
  const JobNumber job = submit(job_of(1e5, 2e5));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  using Kind = Command::Kind;
  for (const bool frozen : {false, true}) {
    SCOPED_TRACE(frozen);
    if (frozen) {
      ASSERT_TRUE(tell(Kind::kFreeze).has_value());
      submit(job_of(10, 60));
      ASSERT_TRUE(tell(Kind::kCordon, "0").has_value());
    }
    std::string before;
    // All that is under way comes to rest first.
    ASSERT_TRUE(wait_until([&] {
      const std::string last = std::exchange(before, everything(*controller_, rig_));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return before == last;
    }));
    for (const Kind kind :
         {Kind::kFreeze, Kind::kUnfreeze, Kind::kRecover, Kind::kCordon, Kind::kDrain,
          Kind::kUncordon, Kind::kAdopt, Kind::kApply, Kind::kRollback, Kind::kPowerCap}) {
      SCOPED_TRACE(static_cast<int>(kind));
      Command command;
      command.kind = kind;
      command.dry_run = true;
      command.power_cap_w = 5000;
      if (kind == Kind::kAdopt)
        command.gpu = "1";
      else if (kind != Kind::kApply)
        command.gpu = "0";
      if (kind == Kind::kApply) command.layouts = {{"0", "4-2-1"}};
      const auto outcome = controller_->command(command, "test");
      if (!frozen) {
        EXPECT_TRUE(outcome.has_value()) << outcome.error().error;
      }
    }
    EXPECT_TRUE(controller_->plan("").has_value());
    EXPECT_TRUE(controller_->plan("greedy").has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(everything(*controller_, rig_), before);
  }
}

}  // namespace
}  // namespace smartmig
