// How a live controller starts, and starts again: what its journal owes against what the hardware
// has, where either is damaged, older, gone or cannot be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "control/journal_schema.h"
#include "control/journal_sqlite.h"
#include "control/steps.h"
#include "live_desk.h"

namespace smartmig {
namespace {

using LiveStart = LiveDesk;

TEST_F(LiveStart, ASecondControllerIsRefusedInOneLine) {
  start();
  const auto same = rig_.start_controller(options_);
  ASSERT_FALSE(same.has_value());
  EXPECT_EQ(same.error().message.find('\n'), std::string::npos);
  ControllerOptions other = options_;
  other.state_dir += "-other";
  std::filesystem::create_directories(other.state_dir);
  const auto taken = rig_.start_controller(other);
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().message.find("claimed by"), std::string::npos) << taken.error().message;
  const JobNumber job = submit(job_of(10, 60));
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
}

TEST_F(LiveStart, ADamagedJournalIsSetAsideAndNothingTouchedUntilRecover) {
  start();
  const JobNumber before = submit(job_of(10, 60));
  ASSERT_TRUE(comes_to(before, JobPhase::kDone));
  // It outlives the journal and three controllers: at least 12 s of the host's clock.
  const JobNumber long_one = submit(job_of(6000, 18000));
  ASSERT_TRUE(comes_to(long_one, JobPhase::kRunning));
  const std::string run = fmt::format("{}.1", long_one);
  const auto runs = [&] { return gpu_of(run) >= 0; };
  ASSERT_TRUE(runs());
  const std::string other = std::to_string(1 - gpu_of(run));
  controller_.reset();
  damage_journal();
  start();
  FleetView seen = *controller_->look();
  EXPECT_FALSE(seen.recovered);
  EXPECT_TRUE(seen.frozen);
  EXPECT_FALSE(seen.trouble.empty());
  for (const GpuView& gpu : seen.gpus) {
    for (const SliceView& slice : gpu.slices) EXPECT_EQ(slice.state, "foreign");
  }
  EXPECT_TRUE(std::filesystem::exists(rig_.state_dir() + "/damaged-1"));
  {
    auto journal = JournalReader::open(rig_.state_dir());
    const auto audit = journal->audit(100, 10);
    ASSERT_TRUE(audit.has_value());
    ASSERT_EQ(audit->size(), 1U);
    EXPECT_EQ(audit->front().number, 1);
    EXPECT_NE(audit->front().what.find("damaged-1"), std::string::npos) << audit->front().what;
  }
  Command unfreeze;
  unfreeze.kind = Command::Kind::kUnfreeze;
  for (const bool dry : {true, false}) {
    unfreeze.dry_run = dry;
    EXPECT_EQ(controller_->command(unfreeze, "test").error().status, 409);
  }
  restart();  // It stays so.
  EXPECT_FALSE(controller_->summary().recovered);
  EXPECT_TRUE(runs()) << "the job is not known, and may be worth something";
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  ASSERT_TRUE(tell(Command::Kind::kAdopt, other).has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu(other)->slices.at(0).state == "ready"; }));
  const JobNumber job = submit(job_of(10, 60));
  EXPECT_NE(job, before);
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  restart();
  EXPECT_TRUE(runs());
  // When it is over, its slice can be adopted, too.
  ASSERT_TRUE(wait_until([&] { return !runs(); }));
  EXPECT_TRUE(wait_until([&] {
    (void)tell(Command::Kind::kAdopt, "0");
    (void)tell(Command::Kind::kAdopt, "1");
    return difference(*controller_->look(), rig_.readings()).empty();
  }));
}

TEST_F(LiveStart, ADamagedJournalIsKnownOfThoughTheStartThatFoundItWentNoFurther) {
  start();
  const JobNumber job = submit(job_of(3000, 9000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  controller_.reset();
  damage_journal();
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"read\",\"times\":1000,\"code\":\"timeout\"");
  EXPECT_FALSE(rig_.start_controller(options_).has_value());
  rig_.tell_fleet("\"op\":\"clear\"");
  for (int i = 0; i < 2; ++i) {
    start();
    EXPECT_FALSE(controller_->summary().recovered);
    EXPECT_TRUE(controller_->summary().frozen);
    EXPECT_EQ(controller_->cancel(job, "test", "").error().status, 404) << "it is not over";
    EXPECT_GE(gpu_of(fmt::format("{}.1", job)), 0);
    controller_.reset();
  }
  EXPECT_FALSE(std::filesystem::exists(rig_.state_dir() + "/damaged-2"));
}

// Runs of a journal that is gone are left alone: what they are worth is not known.
TEST_F(LiveStart, AJournalThatIsGoneIsMissedWhereItsRunsGoOn) {
  start();
  const JobNumber job = submit(job_of(1e6, 1e7));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const std::string run = fmt::format("{}.1", job);
  for (const bool empty : {false, true}) {
    SCOPED_TRACE(empty ? "empty" : "gone");
    controller_.reset();
    for (const char* end : {"", "-wal", "-shm"})
      std::filesystem::remove(rig_.state_dir() + "/journal.db" + end);
    if (empty) {
      std::ofstream(rig_.state_dir() + "/journal.db").flush();
      std::filesystem::permissions(rig_.state_dir() + "/journal.db", std::filesystem::perms(0600));
    }
    for (int i = 0; i < 2; ++i) {
      start();
      EXPECT_FALSE(controller_->summary().recovered);
      EXPECT_TRUE(controller_->summary().frozen);
      EXPECT_FALSE(controller_->ready());
      controller_.reset();
    }
    EXPECT_GE(gpu_of(run), 0);
  }
  start();
  // What would cut or start something waits for the operator's word.
  for (const auto kind :
       {Command::Kind::kUnfreeze, Command::Kind::kApply, Command::Kind::kRollback}) {
    const auto told = tell(kind);
    ASSERT_FALSE(told.has_value());
    EXPECT_EQ(told.error().status, 409);
  }
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  EXPECT_FALSE(controller_->summary().frozen);
  ASSERT_TRUE(tell(Command::Kind::kAdopt, std::to_string(1 - gpu_of(run))).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
  EXPECT_GE(gpu_of(run), 0);
  // It is said once: later it tries fenced GPUs, and an operator's freeze is not its to lift.
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  EXPECT_TRUE(controller_->summary().frozen);
}

TEST_F(LiveStart, AFleetThatCannotBeReadStopsTheStartAndNothingElse) {
  start();
  const JobNumber job = submit(job_of(500, 6000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  controller_.reset();
  for (const char* fault : {"\"code\":\"no-permission\"", "\"hang\":true"}) {
    rig_.tell_fleet(fmt::format("\"op\":\"inject\",\"call\":\"read\",\"times\":1000,{}", fault));
    const auto started = rig_.start_controller(options_);
    ASSERT_FALSE(started.has_value()) << fault;
    EXPECT_TRUE(started.error().message.starts_with("the fleet cannot be read: "))
        << started.error().message;
    rig_.tell_fleet("\"op\":\"clear\"");
  }
  start();
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
}

// What it has is what it had, until a look tells.
TEST_F(LiveStart, AGpuThatCannotBeReadAtTheStartIsFencedAndTheOthersGoOn) {
  for (const bool vanishes : {false, true}) {
    SCOPED_TRACE(vanishes ? "its slice vanishes" : "its slice stays");
    restart();
    const JobNumber job = submit(job_of(2500, 90000));
    ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
    const int where = gpu_of(fmt::format("{}.1", job));
    ASSERT_GE(where, 0);
    const std::string gpu = std::to_string(where);
    controller_.reset();
    LateToTell& driver = start_late(where);
    EXPECT_EQ(controller_->gpu(gpu)->state, "fenced");
    EXPECT_EQ(controller_->gpu(gpu)->trouble, "it cannot be read: its wires are cut (unknown)");
    EXPECT_EQ(controller_->gpu(std::to_string(1 - where))->state, "up");
    EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
    EXPECT_EQ(row(job).phase, JobPhase::kRunning);
    EXPECT_EQ(row(job).attempt, 1) << "it is not started elsewhere";
    if (vanishes) rig_.tell_fleet("\"op\":\"reboot\",\"gpu\":" + gpu);
    driver.unreadable = -1;
    EXPECT_TRUE(wait_until([&] { return controller_->gpu(gpu)->state == "up"; }));
    EXPECT_TRUE(comes_to(job, JobPhase::kDone));
    EXPECT_EQ(row(job).attempt, vanishes ? 2 : 1);
    EXPECT_EQ(wrong_runs(rig_), "");
  }
}

TEST_F(LiveStart, AGpuThatCannotBeReadStopsTheStartWhereThereIsNoJournal) {
  auto late = std::make_unique<LateToTell>(rig_.fleet_dir());
  late->unreadable = 1;
  const auto started = Controller::start(options_, std::move(late));
  ASSERT_FALSE(started.has_value());
  EXPECT_TRUE(started.error().message.starts_with("the fleet cannot be read: GPU-"))
      << started.error().message;
  EXPECT_NE(started.error().message.find("its wires are cut"), std::string::npos);
  start();
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
}

// Whether its run was begun is not known.
TEST_F(LiveStart, AJobThatWasBeingStartedOnAGpuThatCannotBeReadIsWaitedFor) {
  for (const char* fault : {"\"delay_s\":30", "\"hang\":true,\"done\":true"}) {
    SCOPED_TRACE(fault);
    restart();
    rig_.tell_fleet(fmt::format("\"op\":\"inject\",\"call\":\"start\",{}", fault));
    const JobNumber job = submit(job_of(500, 90000));
    ASSERT_TRUE(comes_to(job, JobPhase::kStarting));
    const std::string uuid = row(job).gpu;
    const int where = controller_->gpu("0")->uuid == uuid ? 0 : 1;
    controller_.reset();
    LateToTell& driver = start_late(where);
    EXPECT_EQ(row(job).phase, JobPhase::kStarting);
    EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
    EXPECT_EQ(row(job).attempt, 1);
    driver.unreadable = -1;
    EXPECT_TRUE(comes_to(job, JobPhase::kDone));
    EXPECT_EQ(wrong_runs(rig_), "");
    controller_.reset();
    EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
  }
}

class LiveStartUnread : public LiveStart {
 protected:
  // A slice of the new layout is made, which no controller hears of, and the next controller cannot
  // read the GPU.
  void be_in_the_middle() {
    start();
    ASSERT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
    ASSERT_TRUE(wait_until([&] { return every_intent_is_closed(rig_.state_dir()); }));
    ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
    rig_.tell_fleet("\"op\":\"inject\",\"gpu\":1,\"call\":\"create\",\"hang\":true,\"done\":true");
    Command apply;
    apply.kind = Command::Kind::kApply;
    apply.layouts = {{"1", "2-2-2-1"}};
    ASSERT_TRUE(controller_->command(apply, "test").has_value());
    ASSERT_TRUE(wait_until([&] { return (slots_of(rig_.readings()[1]) & new_slots_) != 0; }));
    controller_.reset();
    driver_ = &start_late(1);
    EXPECT_EQ(controller_->gpu("1")->state, "fenced");
    EXPECT_FALSE(every_intent_is_closed(rig_.state_dir()));
  }
  const Board& board_ = **BoardTable::shipped().find("A100-40GB");
  const SlotSet new_slots_ = *parse_layout(board_, "2-2-2-1");
  LateToTell* driver_ = nullptr;
};

TEST_F(LiveStartUnread, AChangeUnderWayIsUndoneOnceItCanBe) {
  ASSERT_NO_FATAL_FAILURE(be_in_the_middle());
  driver_->unreadable = -1;
  EXPECT_TRUE(wait_until([&] {
    return controller_->gpu("1")->layout == "3-3" && every_intent_is_closed(rig_.state_dir());
  })) << controller_->gpu("1")->layout;
  const GpuView gpu = *controller_->gpu("1");
  for (const SliceView& slice : gpu.slices) EXPECT_EQ(slice.state, "ready") << slice.profile;
  EXPECT_EQ(difference(*controller_->look(), rig_.readings()), "");
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveStartUnread, WhatOthersHaveMadeMeanwhileIsTheirs) {
  ASSERT_NO_FATAL_FAILURE(be_in_the_middle());
  // In a slot that was to be ours.
  int slot = 0;
  while (!(new_slots_ >> slot & 1) || !can_add(board_, slots_of(rig_.readings()[1]), slot)) ++slot;
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":1,\"slot\":{}", slot));
  driver_->unreadable = -1;
  EXPECT_TRUE(wait_until([&] {
    return controller_->gpu("1")->layout == "3-2" && every_intent_is_closed(rig_.state_dir());
  })) << controller_->gpu("1")->layout;
  const GpuView gpu = *controller_->gpu("1");
  const bool is_theirs = std::any_of(
      gpu.slices.begin(), gpu.slices.end(),
      [&](const SliceView& slice) { return slice.slot == slot && slice.state == "foreign"; });
  EXPECT_TRUE(is_theirs);
  EXPECT_NE(slots_of(rig_.readings()[1]) >> slot & 1, 0u) << "it is left alone";
}

TEST_F(LiveStart, NumbersThatAnOlderCopyOfTheJournalDoesNotKnowAreNotGivenAgain) {
  start();
  ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  controller_.reset();
  const std::string copy = rig_.state_dir() + "-copy";
  std::filesystem::copy(rig_.state_dir(), copy, std::filesystem::copy_options::recursive);
  start();
  JobNumber last = 0;
  for (int i = 0; i < 3; ++i) {
    last = submit(job_of(10, 60));
    ASSERT_TRUE(comes_to(last, JobPhase::kDone));
  }
  controller_.reset();
  std::filesystem::remove_all(rig_.state_dir());
  std::filesystem::rename(copy, rig_.state_dir());
  start();
  // The mark went back, too. The fleet was told that what is missing is journalled.
  EXPECT_FALSE(controller_->summary().recovered);
  EXPECT_FALSE(controller_->summary().trouble.empty());
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  for (int i = 0; i < 2; ++i) {
    const JobNumber next = submit(job_of(10, 60));
    EXPECT_GT(next, last);
    ASSERT_TRUE(comes_to(next, JobPhase::kDone));
    EXPECT_EQ(row(next).attempt, 1);
    restart();
  }
}

class LiveStartOlder : public LiveStart {
 protected:
  // A job runs that is queued in the copy of the journal which is put back; no controller runs.
  void put_back_a_copy() {
    start();
    ASSERT_TRUE(wait_until([&] {
      return controller_->gpu("0")->layout == "7" && controller_->gpu("1")->layout == "3-3";
    }));
    ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
    job_ = submit(job_of(2e4, 1e6));
    run_ = fmt::format("{}.1", job_);
    controller_.reset();
    const std::string copy = rig_.state_dir() + "-copy";
    std::filesystem::copy(rig_.state_dir(), copy, std::filesystem::copy_options::recursive);
    start();
    ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
    ASSERT_TRUE(comes_to(job_, JobPhase::kRunning));
    where_ = gpu_of(run_);
    ASSERT_GE(where_, 0);
    controller_.reset();
    std::filesystem::remove_all(rig_.state_dir());
    std::filesystem::rename(copy, rig_.state_dir());
  }
  JobNumber job_ = 0;
  std::string run_;
  int where_ = -1;
};

TEST_F(LiveStartOlder, ARunOfAnAttemptThatItDoesNotKnowIsTheJobsAndGoesOn) {
  ASSERT_NO_FATAL_FAILURE(put_back_a_copy());
  for (int i = 0; i < 2; ++i) {
    start();
    EXPECT_FALSE(controller_->summary().recovered);
    EXPECT_TRUE(controller_->summary().frozen);
    EXPECT_NE(controller_->summary().trouble.find(run_), std::string::npos)
        << controller_->summary().trouble;
    EXPECT_EQ(row(job_).phase, JobPhase::kRunning);
    EXPECT_EQ(gpu_of(run_), where_);
    controller_.reset();
  }
  start();
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
  EXPECT_EQ(gpu_of(run_), where_) << "it was stopped";
  EXPECT_EQ(row(job_).attempt, 1) << "it was started again";
  ASSERT_TRUE(controller_->cancel(job_, "test", "").has_value());
  EXPECT_TRUE(comes_to(job_, JobPhase::kCancelled));
  EXPECT_EQ(wrong_runs(rig_), "");
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

// On a GPU that cannot be read at the start it is found later.
TEST_F(LiveStartOlder, ARunThatItDoesNotKnowRaisesTheAlarmOnceItsGpuCanBeRead) {
  ASSERT_NO_FATAL_FAILURE(put_back_a_copy());
  LateToTell& driver = start_late(where_);
  EXPECT_EQ(controller_->gpu(std::to_string(where_))->state, "fenced");
  driver.unreadable = -1;
  EXPECT_TRUE(wait_until([&] { return !controller_->summary().recovered; }));
  EXPECT_TRUE(controller_->summary().frozen);
  EXPECT_EQ(gpu_of(run_), where_);
  restart();
  EXPECT_FALSE(controller_->summary().recovered);
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  EXPECT_TRUE(comes_to(submit(job_of(10, 600)), JobPhase::kDone));
  EXPECT_EQ(gpu_of(run_), where_);
}

// As after a host that lost power: the journal is synced, the simulated fleet's state is not.
TEST_F(LiveStart, AFleetThatHasForgottenItsLastEventsIsHeardAgain) {
  start();
  ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  controller_.reset();
  rig_.kill_fleet();
  const std::string state = rig_.fleet_dir() + "/fleet.state";
  std::filesystem::copy_file(state, state + ".old");
  rig_.restart_fleet();
  start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  controller_.reset();
  rig_.kill_fleet();
  std::filesystem::rename(state + ".old", state);
  rig_.restart_fleet();
  start();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
}

TEST_F(LiveStart, NumbersOfNoticesAreNotThoseOfAnEarlierController) {
  start();
  ASSERT_TRUE(comes_to(submit(job_of(10, 60)), JobPhase::kDone));
  const std::uint64_t seen = controller_->last_notice();
  controller_.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  start();
  EXPECT_GT(controller_->last_notice(), seen);
  bool missed = false;
  (void)controller_->notices_after(seen, 0, missed);
  EXPECT_TRUE(missed);
  (void)controller_->notices_after(controller_->last_notice(), 0, missed);
  EXPECT_FALSE(missed);
}

// Its save is over long before its progress would have begun.
TEST_F(LiveStart, ARunThatSavesWhileItIsRestoredOutlivesTheController) {
  const auto both = [&](Command::Kind kind) {
    for (const char* gpu : {"0", "1"}) ASSERT_TRUE(tell(kind, gpu).has_value());
  };
  start();
  JobRequest request = job_of(3000, 90000);
  request.checkpoint_s = 1000;  // Two seconds here, ...
  request.restore_s = 20000;    // ... and 40.
  const JobNumber job = submit(request);
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  both(Command::Kind::kDrain);
  ASSERT_TRUE(comes_to(job, JobPhase::kQueued));
  both(Command::Kind::kUncordon);
  ASSERT_TRUE(wait_until([&] { return row(job).phase == JobPhase::kRunning; }));
  both(Command::Kind::kDrain);
  ASSERT_TRUE(comes_to(job, JobPhase::kSaving));
  restart();
  EXPECT_TRUE(comes_to(job, JobPhase::kQueued));
  EXPECT_EQ(row(job).attempt, 2);
  EXPECT_EQ(wrong_runs(rig_), "");
}

TEST_F(LiveStart, AJournalOfANewerProgramIsRefusedInOneLineAndLeftAlone) {
  start();
  controller_.reset();
  {
    Database journal;
    ASSERT_EQ(open_database(rig_.state_dir() + "/journal.db", SQLITE_OPEN_READWRITE, journal),
              SQLITE_OK);
    ASSERT_EQ(put_schema(journal.get(), 1000), SQLITE_OK);
  }
  const auto refused = rig_.start_controller(options_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("newer smartmig"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(rig_.state_dir() + "/damaged-1"));
}

TEST_F(LiveStart, ControllersThatStopLeaveJobsRunning) {
  start();
  const JobNumber job = submit(job_of(700, 3000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const auto runs = [&] {
    for (const GpuReading& gpu : rig_.readings()) {
      for (const SliceReading& slice : gpu.slices) {
        if (slice.run == fmt::format("{}.1", job)) return slice.phase == RunPhase::kRunning;
      }
    }
    return false;
  };
  controller_.reset();
  EXPECT_TRUE(runs());
  start();
  EXPECT_TRUE(runs());
  EXPECT_EQ(row(job).phase, JobPhase::kRunning);
  controller_.reset();
  EXPECT_TRUE(wait_until([&] { return !runs(); }));  // It ends while nobody listens.
  start();
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
  EXPECT_EQ(wrong_runs(rig_), "");
}

TEST_F(LiveStart, KeysHoldAfterTheEndAndOverARestart) {
  start();
  const JobRequest request = job_of(10, 60, "key");
  const JobNumber job = submit(request);
  const auto again = [&] { return controller_->submit(request, "test"); };
  EXPECT_EQ(again()->id, job);
  ASSERT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(again()->id, job);
  EXPECT_FALSE(again()->created);
  restart();
  EXPECT_EQ(again()->id, job);
  const auto other = controller_->submit(job_of(11, 60, "key"), "test");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().status, 409);
}

TEST_F(LiveStart, AWayBackThatFailedIsOwedOverManyRestarts) {
  start();
  const auto is_whole = [&] {
    const auto readings = rig_.readings();
    return readings.at(0).slices.size() == 1 && controller_->gpu("0")->layout == "7" &&
           controller_->gpu("0")->state == "up" &&
           difference(*controller_->look(), readings).empty();
  };
  ASSERT_TRUE(wait_until(is_whole));
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  rig_.tell_fleet(
      "\"op\":\"inject\",\"gpu\":0,\"call\":\"create\",\"times\":0,\"code\":\"no-permission\"");
  Command command;
  command.kind = Command::Kind::kApply;
  command.layouts = {{"0", "4-3"}};
  ASSERT_TRUE(controller_->command(command, "test").has_value());
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->trouble.find("the way back failed too") != std::string::npos;
  }));
  for (int i = 0; i < 3; ++i) restart();
  EXPECT_TRUE(rig_.readings().at(0).slices.empty());
  rig_.tell_fleet("\"op\":\"clear\"");
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "0").has_value());
  EXPECT_TRUE(wait_until(is_whole)) << controller_->gpu("0")->layout;
  EXPECT_TRUE(wait_until([&] { return every_intent_is_closed(rig_.state_dir()); }));
}

TEST_F(LiveStart, ASliceOfOthersStaysTheirsWhereAWayBackFailedBeforeARestart) {
  const Board& board = **BoardTable::shipped().find("A100-40GB");
  const SlotSet small = *parse_layout(board, "4-2-1") & ~*parse_layout(board, "4-2");
  const int slot = std::countr_zero(small);
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":0,\"slot\":{}", slot));
  const std::string theirs = rig_.readings()[0].slices.at(0).uuid;
  start();
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  Command command;
  command.kind = Command::Kind::kApply;
  command.layouts = {{"0", "2-2-2-1"}};
  ASSERT_TRUE(controller_->command(command, "test").has_value());
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->layout == "2-2-2-1" && every_intent_is_closed(rig_.state_dir());
  }));
  rig_.tell_fleet(
      "\"op\":\"inject\",\"gpu\":0,\"call\":\"create\",\"times\":0,\"code\":\"no-permission\"");
  command.layouts = {{"0", "4-2-1"}};
  ASSERT_TRUE(controller_->command(command, "test").has_value());
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->trouble.find("the way back failed too") != std::string::npos;
  })) << controller_->gpu("0")->trouble;
  const auto is_foreign = [&](const std::string& uuid) {
    const GpuView gpu = *controller_->gpu("0");
    for (const SliceView& slice : gpu.slices) {
      if (slice.uuid == uuid) return slice.state == "foreign";
    }
    return false;
  };
  EXPECT_TRUE(is_foreign(theirs));
  // One that comes while the way back is owed is theirs, too.
  const int room =
      std::countr_zero(*parse_layout(board, "2-2-2-1") & ~slots_of(rig_.readings()[0]));
  rig_.tell_fleet(fmt::format("\"op\":\"foreign-create\",\"gpu\":0,\"slot\":{}", room));
  std::string later;
  const GpuReading reading = rig_.readings()[0];
  for (const SliceReading& slice : reading.slices) {
    if (slice.slot == room) later = slice.uuid;
  }
  EXPECT_TRUE(wait_until([&] { return is_foreign(later); }));
  restart();
  EXPECT_TRUE(is_foreign(theirs));
  EXPECT_TRUE(is_foreign(later));
  rig_.tell_fleet("\"op\":\"clear\"");
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "0").has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("0")->state == "up"; }));
  EXPECT_TRUE(is_foreign(later));
  EXPECT_TRUE(is_foreign(theirs));
}

}  // namespace
}  // namespace smartmig
