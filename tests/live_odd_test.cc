// What goes wrong around a live controller: others who want its fleet, damaged memory, jobs that do
// not obey, slices that vanish or were never ours, and what operators ask for meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "control/journal.h"
#include "control/journal_schema.h"
#include "control/journal_sqlite.h"
#include "control/steps.h"
#include "host_faults.h"
#include "live_fixture.h"

namespace smartmig {
namespace {

constexpr const char* kPolicy = "static:7,3-3/cedf";

constexpr std::chrono::seconds kPatience(20);

// A driver whose next look at a GPU, once asked for, is told only when it is let go.
class LateToTell : public SimulatedDriver {
 public:
  using SimulatedDriver::SimulatedDriver;
  DriverResult<GpuReading> read(GpuIndex gpu) override {
    if (static_cast<int>(gpu) == unreadable)
      return tl::unexpected(DriverError{DriverCode::kUnknown, "its wires are cut"});
    auto reading = SimulatedDriver::read(gpu);
    if (holds.exchange(false)) {
      looked.set_value();
      let_go.get_future().wait_for(kPatience);
    }
    return reading;
  }
  DriverResult<std::vector<GpuReading>> read_all(GpuIndex count) override {
    return unreadable < 0 ? SimulatedDriver::read_all(count) : Driver::read_all(count);
  }
  // And that tells of nothing that has happened while it is mute.
  DriverResult<std::vector<FleetEvent>> events_after(std::uint64_t number, int wait_ms) override {
    if (!mute) return SimulatedDriver::events_after(number, wait_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::vector<FleetEvent>{};
  }
  // Or whose kills reach nobody.
  DriverResult<void> kill(GpuIndex gpu, const std::string& run, TimeUs at_us) override {
    return kills_in_vain ? DriverResult<void>{} : SimulatedDriver::kill(gpu, run, at_us);
  }
  std::atomic<bool> holds = false, mute = false, kills_in_vain = false;
  std::atomic<int> unreadable = -1;  // That GPU alone.
  std::promise<void> looked, let_go;
};

class LiveOdd : public testing::Test {
 protected:
  LiveOdd() : rig_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
    rig_.start_fleet("2xA100-40GB", 500);
    options_ = rig_.options(kPolicy);
    options_.retry_first_s = 20;
    options_.stop_grace_s = 20;
    options_.call_timeout_s = 1;
  }
  void start() {
    auto started = rig_.start_controller(options_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    controller_ = std::move(*started);
  }
  LateToTell& start_late(int unreadable = -1) {
    auto late = std::make_unique<LateToTell>(rig_.fleet_dir());
    LateToTell& driver = *late;
    driver.unreadable = unreadable;
    auto started = Controller::start(options_, std::move(late));
    EXPECT_TRUE(started.has_value()) << started.error().message;
    controller_ = std::move(*started);
    return driver;
  }
  void restart() {
    controller_.reset();
    start();
  }
  Answer<Outcome> tell(Command::Kind kind, const std::string& gpu = "") {
    Command command;
    command.kind = kind;
    command.gpu = gpu;
    return controller_->command(command, "test");
  }
  JobNumber submit(const JobRequest& request) {
    const auto done = controller_->submit(request, "test");
    EXPECT_TRUE(done.has_value()) << done.error().error;
    return done ? done->id : 0;
  }
  JobRow row(JobNumber number) {
    auto journal = JournalReader::open(rig_.state_dir());
    const auto found = journal->job(number);
    return found && *found ? **found : JobRow{};
  }
  bool comes_to(JobNumber job, JobPhase phase) {
    return wait_until([&] { return row(job).phase == phase; });
  }

  // Where the hardware has it; -1: nowhere.
  int gpu_of(const std::string& run) {
    const auto readings = rig_.readings();
    for (std::size_t gpu = 0; gpu < readings.size(); ++gpu) {
      for (const SliceReading& slice : readings[gpu].slices) {
        if (slice.run == run) return static_cast<int>(gpu);
      }
    }
    return -1;
  }
  void damage_journal() {
    std::fstream file(rig_.state_dir() + "/journal.db",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0, std::ios::end);
    const auto size = static_cast<long>(file.tellp());
    for (long at = 5000; at < size; at += 997) {
      file.seekp(at);
      file.put('\x5a');
    }
  }
  static JobRequest saving_job() {
    JobRequest request = job_of(5000, 60000);
    request.profile = "bert-training";
    return request;
  }
  // The job's first run is over, by itself or stopped by a drain, and its slice found gone before
  // that is heard of. Leaves the controller frozen and the driver mute.
  void is_over_unheard(LateToTell& driver, JobNumber job, bool drained) {
    ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
    const std::string run = fmt::format("{}.1", job);
    const int gpu = gpu_of(run);
    ASSERT_GE(gpu, 0);
    if (drained) {
      ASSERT_TRUE(
          wait_until([&] { return controller_->now_us() > row(job).begin_us + kMinuteUs; }));
    }
    ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
    driver.mute = true;
    // Ends the call that is out.
    rig_.tell_fleet(fmt::format("\"op\":\"reboot\",\"gpu\":{}", 1 - gpu));
    if (drained) {
      ASSERT_TRUE(tell(Command::Kind::kDrain, std::to_string(gpu)).has_value());
    }
    ASSERT_TRUE(wait_until([&] { return gpu_of(run) < 0; }));
    rig_.tell_fleet(
        fmt::format("\"op\":\"foreign-destroy\",\"gpu\":{},\"slice\":\"{}\"", gpu, row(job).slice));
    // Each look that this asks for may be the one.
    ASSERT_TRUE(wait_until([&] {
      (void)tell(Command::Kind::kAdopt, std::to_string(gpu));
      return row(job).phase == JobPhase::kQueued;
    }));
  }

  LiveRig rig_;
  ControllerOptions options_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(LiveOdd, ASecondControllerIsRefusedInOneLine) {
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

TEST_F(LiveOdd, ADamagedJournalIsSetAsideAndNothingTouchedUntilRecover) {
  start();
  const JobNumber before = submit(job_of(10, 60));
  ASSERT_TRUE(comes_to(before, JobPhase::kDone));
  // It outlives the journal, and all that is told of it: some seconds of real time.
  const JobNumber long_one = submit(job_of(3000, 9000));
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
  EXPECT_TRUE(runs()) << "nobody knows what it is worth";
  ASSERT_TRUE(tell(Command::Kind::kRecover).has_value());
  ASSERT_TRUE(tell(Command::Kind::kAdopt, other).has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu(other)->slices.at(0).state == "ready"; }));
  const JobNumber job = submit(job_of(10, 60));
  EXPECT_NE(job, before);
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  restart();
  EXPECT_TRUE(runs());
  // When it is over its slice can be had, too.
  ASSERT_TRUE(wait_until([&] { return !runs(); }));
  EXPECT_TRUE(wait_until([&] {
    (void)tell(Command::Kind::kAdopt, "0");
    (void)tell(Command::Kind::kAdopt, "1");
    return difference(*controller_->look(), rig_.readings()).empty();
  }));
}

TEST_F(LiveOdd, ADamagedJournalIsKnownOfThoughTheStartThatFoundItWentNoFurther) {
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

// Nobody knows what the runs of a journal that is gone are worth.
TEST_F(LiveOdd, AJournalThatIsGoneIsMissedWhereItsRunsGoOn) {
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

TEST_F(LiveOdd, AFleetThatCannotBeReadStopsTheStartAndNothingElse) {
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
TEST_F(LiveOdd, AGpuThatCannotBeReadAtTheStartIsFencedAndTheOthersGoOn) {
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

TEST_F(LiveOdd, AGpuThatCannotBeReadStopsTheStartWhereThereIsNoJournal) {
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

// Nobody can tell whether its run was begun.
TEST_F(LiveOdd, AJobThatWasBeingStartedOnAGpuThatCannotBeReadIsWaitedFor) {
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

class LiveOddUnread : public LiveOdd {
 protected:
  // A slice of the new layout is made, nobody hears of it, and the next controller cannot read it.
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

TEST_F(LiveOddUnread, AChangeUnderWayIsUndoneOnceItCanBe) {
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

TEST_F(LiveOddUnread, WhatOthersHaveMadeMeanwhileIsTheirs) {
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

// Nothing else happens that policies are asked at.
TEST_F(LiveOdd, AJobThatADrainStoppedGoesOnElsewhere) {
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

TEST_F(LiveOdd, ForeignSlicesAreLeftAloneUntilTheyAreAdopted) {
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

TEST_F(LiveOdd, NumbersThatAnOlderCopyOfTheJournalDoesNotKnowAreNotGivenAgain) {
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
  for (int i = 0; i < 2; ++i) {
    const JobNumber next = submit(job_of(10, 60));
    EXPECT_GT(next, last);
    ASSERT_TRUE(comes_to(next, JobPhase::kDone));
    EXPECT_EQ(row(next).attempt, 1);
    restart();
  }
}

class LiveOddOlder : public LiveOdd {
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

TEST_F(LiveOddOlder, ARunThatItDoesNotKnowIsStoppedOnceItCanBe) {
  ASSERT_NO_FATAL_FAILURE(put_back_a_copy());
  const std::string gpu = std::to_string(where_);
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"kill\",\"times\":1000,\"code\":\"timeout\"");
  for (int i = 0; i < 2; ++i) {
    start();
    EXPECT_TRUE(wait_until([&] {
      return controller_->gpu(gpu)->trouble.find(run_ + ", which nobody waits for, cannot be") !=
             std::string::npos;
    })) << controller_->gpu(gpu)->trouble;
    controller_.reset();
  }
  start();
  rig_.tell_fleet("\"op\":\"clear\"");
  EXPECT_TRUE(wait_until([&] { return gpu_of(run_) < 0 && controller_->gpu(gpu)->state == "up"; }))
      << controller_->gpu(gpu)->trouble;
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(job_, JobPhase::kRunning));
}

TEST_F(LiveOddOlder, ARunThatItDoesNotKnowIsStoppedOnceItsGpuCanBeRead) {
  ASSERT_NO_FATAL_FAILURE(put_back_a_copy());
  LateToTell& driver = start_late(where_);
  EXPECT_EQ(controller_->gpu(std::to_string(where_))->state, "fenced");
  EXPECT_EQ(gpu_of(run_), where_);
  driver.unreadable = -1;
  EXPECT_TRUE(wait_until([&] {
    return gpu_of(run_) < 0 && controller_->gpu(std::to_string(where_))->state == "up";
  })) << controller_->gpu(std::to_string(where_))->trouble;
  ASSERT_TRUE(tell(Command::Kind::kUnfreeze).has_value());
  EXPECT_TRUE(comes_to(job_, JobPhase::kRunning));
}

// As after a host that lost power: the journal is synced, the simulated fleet's state is not.
TEST_F(LiveOdd, AFleetThatHasForgottenItsLastEventsIsHeardAgain) {
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

TEST_F(LiveOdd, NumbersOfNoticesAreNotThoseOfAnEarlierController) {
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

TEST_F(LiveOdd, CancelWorksInEveryPhaseAndMaxRuntimeEndsARun) {
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
TEST_F(LiveOdd, AStartThatTakesLongerThanAJobMayRunIsNoRun) {
  start();
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  rig_.tell_fleet("\"op\":\"inject\",\"call\":\"start\",\"delay_s\":0.7");
  JobRequest request = job_of(250, 9000);
  request.max_runtime_s = 300;
  EXPECT_TRUE(comes_to(submit(request), JobPhase::kDone));
}

// Its save is over long before its progress would have begun.
TEST_F(LiveOdd, ARunThatSavesWhileItIsRestoredOutlivesTheController) {
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

TEST_F(LiveOdd, MoreJobsThanThereMayBeAreRefusedUntilSomeAreOver) {
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

TEST_F(LiveOdd, JobsAreExpectedToStartWhereASliceTheyRunOnIsFreeFirst) {
  start();
  ASSERT_TRUE(wait_until([&] {
    return controller_->gpu("0")->layout == "7" && controller_->gpu("1")->layout == "3-3" &&
           every_intent_is_closed(rig_.state_dir());
  }));
  ASSERT_TRUE(tell(Command::Kind::kFreeze).has_value());
  JobRequest nowhere = job_of(10, 1);
  nowhere.memory_mib = 100'000;
  const JobNumber never = submit(nowhere);
  for (int i = 1; i <= 5; ++i) (void)submit(job_of(1000 * i, 1000 * i));
  const auto expected = controller_->expectations(100);
  ASSERT_EQ(expected.size(), 5u);
  std::multiset<TimeUs> ends;  // Of those that have the three slices.
  for (const auto& one : expected) {
    EXPECT_NE(one.job, never);
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

TEST_F(LiveOdd, AJournalOfANewerProgramIsRefusedInOneLineAndLeftAlone) {
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

TEST_F(LiveOdd, ChangesAreBoundedByTheHour) {
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

TEST_F(LiveOdd, ControllersThatStopLeaveJobsRunning) {
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

TEST_F(LiveOdd, KeysHoldAfterTheEndAndOverARestart) {
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

TEST_F(LiveOdd, AWayBackThatFailedIsOwedOverManyRestarts) {
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

TEST_F(LiveOdd, ASliceOfOthersStaysTheirsWhereAWayBackFailedBeforeARestart) {
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

// A change that a policy wants of GPU 1 and that fails again and again, until an operator steps in.
class LiveOddTries : public LiveOdd {
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

TEST_F(LiveOddTries, OfAChangeEndWithACordon) {
  ASSERT_NO_FATAL_FAILURE(fail_until(Command::Kind::kCordon, "1"));
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "1").has_value());
  EXPECT_TRUE(wait_until([&] { return controller_->gpu("1")->layout == "3-3"; }));
}

TEST_F(LiveOddTries, OfAChangeEndWithAFreeze) { fail_until(Command::Kind::kFreeze, ""); }

// From two slices to four, one of which takes long enough to do something meanwhile.
class LiveOddCordon : public LiveOdd {
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

TEST_F(LiveOddCordon, InTheMiddleOfAChangeFinishesItAndBeginsNoOther) {
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

TEST_F(LiveOddCordon, InTheMiddleOfAChangeIsFinishedByTheNextController) {
  begin_change();
  ASSERT_TRUE(tell(Command::Kind::kCordon, "1").has_value());
  restart();
  EXPECT_TRUE(is_done()) << controller_->gpu("1")->layout << controller_->gpu("1")->trouble;
  ASSERT_TRUE(tell(Command::Kind::kUncordon, "1").has_value());
  EXPECT_EQ(controller_->gpu("1")->state, "up");
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveOdd, APowerCapStartsNothingStopsNothingAndOutlivesTheController) {
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

TEST_F(LiveOdd, RehearsalsChangeNothing) {
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
