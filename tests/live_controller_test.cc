// The live controller on a simulated fleet that is a process of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "control/controller.h"
#include "control/journal.h"
#include "control/replay.h"
#include "drivers/simulated/fleet_process.h"
#include "drivers/simulated/simulated_driver.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

class LiveFleet : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() / fmt::format("smartmig-live-{}-{}", getpid(), info->name());
    fs::create_directories(dir_);
  }
  void TearDown() override {
    controller_.reset();
    (void)stop_simulated_fleet(fleet_dir());
    fs::remove_all(dir_);
  }
  std::string fleet_dir() const { return (dir_ / "fleet").string(); }
  std::string state_dir() const { return (dir_ / "state").string(); }

  void start_fleet(const std::string& fleet, double speed) {
    fs::create_directories(fleet_dir());
    const auto started =
        start_simulated_fleet(fleet_dir(), {"fleet", fleet_dir(), fleet, fmt::format("{}", speed)});
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  Result<void> start_controller(const std::string& policy) {
    options_.state_dir = state_dir();
    options_.setup.policy = policy;
    options_.version = "test";
    fs::create_directories(state_dir());
    auto started = Controller::start(options_, std::make_unique<SimulatedDriver>(fleet_dir()));
    if (!started) return pass_on(started);
    controller_ = std::move(*started);
    return {};
  }
  JobNumber submit(double work_s, double deadline_s, const std::string& profile = "bert-training") {
    JobRequest request;
    request.profile = profile;
    request.work_s = work_s;
    request.deadline_s = deadline_s;
    const auto done = controller_->submit(request, "test");
    EXPECT_TRUE(done.has_value()) << done.error().error;
    return done ? done->id : 0;
  }
  bool wait_until(const std::function<bool()>& what, double most_s = 20) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_s);
    while (!what()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  fs::path dir_;
  ControllerOptions options_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(LiveFleet, RunsJobsToTheirEndAndReplays) {
  start_fleet("2xA100-40GB", 1000);
  ASSERT_TRUE(start_controller("smartmig").has_value());
  for (int i = 0; i < 40; ++i) submit(20 + i, 300, i % 2 ? "bert-training" : "resnet50-inference");
  EXPECT_TRUE(wait_until([&] { return controller_->counters().done == 40; }))
      << controller_->counters().done << " done";
  controller_.reset();
  auto journal = JournalReader::open(state_dir());
  ASSERT_TRUE(journal.has_value());
  EXPECT_TRUE(journal->verify().has_value());
  const auto report = replay(*journal);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->difference.has_value()) << *report->difference;
  EXPECT_GT(report->decisions, 10);
}

}  // namespace
}  // namespace smartmig
