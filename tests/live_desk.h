// Two GPUs of a simulated fleet, a controller that can be started and ended, and a driver that can
// be told to misbehave: what most tests of a live controller need.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "control/journal.h"
#include "live_fixture.h"

namespace smartmig {

inline constexpr const char* kPolicy = "static:7,3-3/cedf";

inline constexpr std::chrono::seconds kPatience(60);

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
  // Or whose kills have no effect.
  DriverResult<void> kill(GpuIndex gpu, const std::string& run, TimeUs at_us) override {
    return kills_in_vain ? DriverResult<void>{} : SimulatedDriver::kill(gpu, run, at_us);
  }
  // Or whose next start is answered and not made.
  DriverResult<void> start(GpuIndex gpu, const RunOrder& order, TimeUs at_us) override {
    if (next_start_in_vain.exchange(false)) return {};
    return SimulatedDriver::start(gpu, order, at_us);
  }
  std::atomic<bool> holds = false, mute = false, kills_in_vain = false;
  std::atomic<bool> next_start_in_vain = false;
  std::atomic<int> unreadable = -1;  // That GPU alone.
  std::promise<void> looked, let_go;
};

class LiveDesk : public testing::Test {
 protected:
  LiveDesk() : rig_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
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

}  // namespace smartmig
