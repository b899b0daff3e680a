// The process and the driver, over the socket: killed at random moments, claimed twice, hung.
#include "drivers/simulated/fleet_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/random.h"
#include "base/text.h"
#include "drivers/simulated/fleet_keeper.h"
#include "drivers/simulated/fleet_socket.h"
#include "drivers/simulated/simulated_driver.h"
#include "mig/layout.h"

namespace smartmig {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// start_simulated_fleet() runs this program anew, as `drivers_test fleet STATE FLEET SPEED`; then
// it is that fleet and no test.
class FleetChild : public testing::Environment {
 public:
  void SetUp() override {
    std::ifstream file("/proc/self/cmdline");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto words = split(text, '\0');
    if (words.size() < 5 || words[1] != "fleet") return;
    const FleetProcessOptions options{.state = std::string(words[2]),
                                      .fleet = std::string(words[3]),
                                      .speed = parse_number(words[4]).value(),
                                      .shares = {}};
    const auto served = run_simulated_fleet(options);
    if (!served) fmt::print(stderr, "{}\n", served.error().message);
    std::_Exit(served ? 0 : 2);
  }
};
const auto* const kChild = testing::AddGlobalTestEnvironment(new FleetChild);

class FleetProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fleet_process_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    // Deeper than a socket's path may be long.
    state_ = top_ + "/" + std::string(120, 'd');
  }
  void TearDown() override {
    EXPECT_TRUE(stop_simulated_fleet(state_));
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(top_);
  }
  void start(const std::string& fleet = "4xA100-40GB", const std::string& speed = "500") {
    const auto process = start_simulated_fleet(state_, {"fleet", state_, fleet, speed});
    ASSERT_TRUE(process) << process.error().message;
    process_ = *process;
  }
  void kill_fleet() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

  std::string top_;
  std::string state_;
  pid_t process_ = 0;
};

// What it logs, with when; from its thread.
struct KeeperLog {
  std::mutex mutex;
  std::vector<std::pair<steady_clock::time_point, std::string>> lines;

  std::function<void(const std::string&)> put() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(steady_clock::now(), line);
    };
  }
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return lines.size();
  }
  bool names(pid_t process) {
    const std::lock_guard lock(mutex);
    return !lines.empty() && lines.back().second.ends_with(fmt::format("process {}", process));
  }
};

TEST_F(FleetProcessTest, IsStartedAgainAsLongAsItIsKept) {
  start();
  SimulatedDriver driver(state_);
  const std::string id = driver.describe()->fleet_id;
  KeeperLog log;
  {
    FleetKeeper keeper({.state = state_,
                        .arguments = {"fleet", state_, "4xA100-40GB", "500"},
                        .log = log.put(),
                        .first_pause = milliseconds(10)});
    for (int i = 0; i < 3; ++i) {
      const pid_t before = process_;
      ::kill(process_, SIGKILL);
      const auto until = steady_clock::now() + std::chrono::seconds(60);
      while (process_ == before && steady_clock::now() < until) {
        std::this_thread::sleep_for(milliseconds(5));
        process_ = simulated_fleet_process(state_).value_or(before);
      }
      EXPECT_NE(process_, before);
      const auto there = driver.describe();
      ASSERT_TRUE(there) << there.error().message;
      EXPECT_EQ(there->fleet_id, id);
      // The first may have ended before the keeper's first look.
      while (i > 0 && !log.names(process_) && steady_clock::now() < until)
        std::this_thread::sleep_for(milliseconds(5));
    }
  }
  EXPECT_TRUE(driver.describe()) << "it outlives its keeper";
  EXPECT_GE(log.size(), 4u) << "that it ended, and that it runs again";
}

TEST_F(FleetProcessTest, IsStartedAgainWithPausesThatGrow) {
  KeeperLog log;
  FleetKeeper::Options options{.state = state_,
                               .arguments = {"fleet", state_, "no such fleet", "500"},
                               .log = log.put(),
                               .first_pause = milliseconds(20),
                               .most_pause = milliseconds(160)};
  {
    FleetKeeper keeper(options);
    const auto until = steady_clock::now() + std::chrono::seconds(60);
    while (log.size() < 7 && steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(5));
  }
  ASSERT_GE(log.lines.size(), 7u);
  // The first has failed, which is told, and so that it is tried again; then one line for each.
  EXPECT_NE(log.lines[0].second.find("did not start"), std::string::npos) << log.lines[0].second;
  auto pause = options.first_pause;
  for (std::size_t i = 2; i < 7; ++i) {
    EXPECT_GE(log.lines[i].first - log.lines[i - 1].first, pause) << i;
    pause = std::min(2 * pause, options.most_pause);
  }
}

TEST_F(FleetProcessTest, IsDrivenOverItsSocket) {
  start();
  struct stat socket {};
  ASSERT_EQ(::stat((state_ + "/" + kSocketName).c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & 0777, 0600u);
  SimulatedDriver driver(state_);
  const auto fleet = driver.claim("test");
  ASSERT_TRUE(fleet) << fleet.error().message;
  ASSERT_EQ(fleet->gpus.size(), 4u);
  EXPECT_EQ(fleet->boards[3], "A100-40GB");
  EXPECT_EQ(fleet->clock.speed, 500);
  const auto slice = driver.create(2, 0, 0);
  ASSERT_TRUE(slice) << slice.error().message;
  RunOrder order{.run = "1.1", .slice_uuid = *slice, .full_us = 400 * kSecondUs};
  ASSERT_TRUE(driver.start(2, order, 0));
  EXPECT_EQ(driver.read(2)->slices[0].run, "1.1");
  EXPECT_EQ(driver.read_all(4)->at(2).slices[0].uuid, *slice);
  EXPECT_EQ(driver.start(2, order, 0).error().code, DriverCode::kAlreadyRan);
  const auto events = driver.events_after(0, 5000);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(events->at(0).kind, FleetEvent::Kind::kEnded);
  EXPECT_EQ(events->at(0).run, "1.1");
  ASSERT_TRUE(driver.destroy(2, *slice, 0));
  EXPECT_GT(driver.read(2)->energy_j, 0);
}

TEST_F(FleetProcessTest, OneProcessServesAFolderAndItIsNamed) {
  start();
  const auto again = start_simulated_fleet(state_, {"fleet", state_, "4xA100-40GB", "1"});
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, process_);
  const auto second =
      run_simulated_fleet({.state = state_, .fleet = "4xA100-40GB", .speed = {}, .shares = {}});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process serves"), std::string::npos);
}

TEST_F(FleetProcessTest, SaysWhyItDidNotStart) {
  const auto process = start_simulated_fleet(state_, {"fleet", state_, "4xZ100", "1"});
  ASSERT_FALSE(process);
  EXPECT_NE(process.error().message.find("Z100"), std::string::npos) << process.error().message;
}

TEST_F(FleetProcessTest, ASecondControllerIsRefusedUntilTheFirstGoes) {
  start();
  auto first = std::make_unique<SimulatedDriver>(state_);
  SimulatedDriver second(state_);
  ASSERT_TRUE(first->claim("first"));
  const auto refused = second.claim("second");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("first"), std::string::npos);
  first.reset();
  DriverResult<FleetDescription> claimed = second.claim("second");
  for (int i = 0; i < 100 && !claimed; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    claimed = second.claim("second");
  }
  EXPECT_TRUE(claimed);
}

TEST_F(FleetProcessTest, AHungCallHoldsUpNobodyAndEndsWithTheDriver) {
  start();
  auto driver = std::make_unique<SimulatedDriver>(state_);
  ASSERT_TRUE(driver->claim("test"));
  ASSERT_TRUE(driver->call(R"("op":"inject","call":"create","gpu":0,"hang":true)"));
  auto hung = std::async(std::launch::async, [&] { return driver->create(0, 0, 0); });
  while (driver->call(R"("op":"list")")->at("faults").size() > 0)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(driver->create(1, 0, 0));
  EXPECT_TRUE(driver->read(0));
  EXPECT_EQ(hung.wait_for(milliseconds(20)), std::future_status::timeout);
  driver.reset();
  EXPECT_EQ(hung.get().error().code, DriverCode::kUnreachable);
}

TEST_F(FleetProcessTest, OverlongRequestsEndTheConnectionAndNothingElse) {
  start();
  SimulatedDriver driver(state_);
  const std::string fields = R"("op":"describe","padding":")" + std::string(70'000, 'x') + "\"";
  EXPECT_EQ(driver.call(fields).error().code, DriverCode::kUnreachable);
  EXPECT_TRUE(driver.describe());
}

TEST_F(FleetProcessTest, ComesBackAfterSigtermWithTheSameSlices) {
  start();
  SimulatedDriver driver(state_);
  ASSERT_TRUE(driver.claim("test"));
  const auto slice = driver.create(0, 0, 0);
  ASSERT_TRUE(slice);
  ASSERT_TRUE(stop_simulated_fleet(state_));
  process_ = 0;
  EXPECT_EQ(driver.read(0).error().code, DriverCode::kUnreachable);
  start();
  EXPECT_EQ(driver.read(0)->slices[0].uuid, *slice);
  EXPECT_TRUE(driver.destroy(0, *slice, 0)) << "the claim goes on";
}

// What a controller knows for certain while the fleet is killed under it.
class Campaign {
 public:
  Campaign(std::uint64_t seed, const std::string& state)
      : random_(seed, "kill campaign"), driver_(state) {}

  void claim() { ASSERT_TRUE(driver_.claim("campaign")); }
  // Random orders until one is not answered.
  void run_until_unreachable() {
    while (step()) {
    }
  }
  void check() {
    gather_events();
    std::map<std::string, std::pair<int, std::string>> audit;
    const auto runs = driver_.call(R"("op":"audit","limit":100000)");
    ASSERT_TRUE(runs);
    for (const auto& run : runs->at("runs")) {
      auto& [count, outcome] = audit[run.at(1).get<std::string>()];
      ++count;
      outcome = run.at(6).get<std::string>();
    }
    for (const auto& [run, entry] : audit) EXPECT_EQ(entry.first, 1) << run;
    for (const std::string& run : started_) EXPECT_TRUE(audit.contains(run)) << run;
    for (const auto& [run, outcome] : ended_) EXPECT_EQ(audit.at(run).second, outcome) << run;
    check_gpus();
  }
  std::size_t answered() const { return started_.size(); }

 private:
  bool keep(const DriverResult<void>& answer) {
    if (answer) return true;
    EXPECT_NE(answer.error().code, DriverCode::kSuperseded) << answer.error().message;
    EXPECT_NE(answer.error().code, DriverCode::kAlreadyRan) << answer.error().message;
    return answer.error().code != DriverCode::kUnreachable;
  }

  bool step() {
    const auto gpu = static_cast<GpuIndex>(random_.below(4));
    const auto reading = driver_.read(gpu);
    if (!reading) return false;
    const auto choice = random_.below(10);
    if (choice < 2 || reading->slices.empty()) return create(gpu);
    const SliceReading& slice = reading->slices[random_.below(reading->slices.size())];
    if (choice < 7 && slice.phase == RunPhase::kIdle) return start(gpu, slice.uuid);
    if (choice < 8) return keep(driver_.stop(gpu, slice.run.empty() ? "none" : slice.run, 0));
    if (choice < 9 && slice.phase == RunPhase::kIdle) {
      unsure_.insert(slice.uuid);
      const auto gone = driver_.destroy(gpu, slice.uuid, 0);
      if (gone) slices_[gpu].erase(slice.uuid);
      return keep(gone);
    }
    return gather_events();
  }

  bool create(GpuIndex gpu) {
    const auto made = driver_.create(gpu, static_cast<int>(random_.below(20)), 0);
    if (made) slices_[gpu].insert(*made);
    return made || made.error().code != DriverCode::kUnreachable;
  }

  bool start(GpuIndex gpu, const std::string& slice) {
    RunOrder order{.run = std::to_string(++runs_) + ".1",
                   .slice_uuid = slice,
                   .full_us = static_cast<TimeUs>(random_.below(8 * kSecondUs)),
                   .checkpoint_us = kSecondUs};
    const auto answer = driver_.start(gpu, order, 0);
    if (answer) started_.push_back(order.run);
    return keep(answer);
  }

  bool gather_events() {
    const auto events = driver_.events_after(last_event_, 0);
    if (!events) return false;
    for (const FleetEvent& event : *events) {
      EXPECT_EQ(event.number, ++last_event_);
      EXPECT_GE(event.at_us, last_us_);
      last_us_ = event.at_us;
      EXPECT_TRUE(event.run.empty() ||
                  ended_.emplace(event.run, std::string(to_string(event.kind))).second);
    }
    return true;
  }

  static std::string_view to_string(FleetEvent::Kind kind) {
    constexpr std::string_view kNames[] = {"ended", "failed", "saved", "killed", "changed"};
    return kNames[static_cast<std::size_t>(kind)];
  }

  void check_gpus() {
    const auto readings = driver_.read_all(4);
    ASSERT_TRUE(readings);
    for (GpuIndex gpu = 0; gpu < 4; ++gpu) {
      std::set<std::string> there;
      SlotSet slots = 0;
      for (const SliceReading& slice : readings->at(gpu).slices) {
        there.insert(slice.uuid);
        slots |= SlotSet{1} << slice.slot;
      }
      EXPECT_TRUE(is_legal(*BoardTable::shipped().find("A100-40GB").value(), slots));
      for (const std::string& uuid : slices_[gpu])
        EXPECT_TRUE(there.contains(uuid) || unsure_.contains(uuid)) << uuid;
      EXPECT_GE(readings->at(gpu).energy_j, energy_j_[gpu]);
      energy_j_[gpu] = readings->at(gpu).energy_j;
    }
  }

  Random random_;
  SimulatedDriver driver_;
  std::map<GpuIndex, std::set<std::string>> slices_;
  std::set<std::string> unsure_;  // Somebody asked for their end.
  std::vector<std::string> started_;
  std::map<std::string, std::string> ended_;
  std::map<GpuIndex, double> energy_j_;
  std::uint64_t last_event_ = 0;
  TimeUs last_us_ = 0;
  int runs_ = 0;
};

TEST_F(FleetProcessTest, KilledAtRandomMomentsItLosesAndDoublesNothing) {
  constexpr std::uint64_t kSeed = 1;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed, "kill moments");
  start();
  Campaign campaign(kSeed, state_);
  campaign.claim();
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    const auto pause = microseconds(random.below(60'000));
    std::thread killer([&] {
      std::this_thread::sleep_for(pause);
      ::kill(process_, SIGKILL);
    });
    campaign.run_until_unreachable();
    killer.join();
    kill_fleet();
    start();
    campaign.check();
  }
  EXPECT_GT(campaign.answered(), 50u);
}

TEST_F(FleetProcessTest, TenThousandGpusAreFilledByFourThreadsAndReadInOneAnswer) {
  start("10000xA100-40GB", "1000");
  SimulatedDriver driver(state_);
  ASSERT_TRUE(driver.claim("test"));
  // Made by somebody else, as that takes no time.
  const auto begin = steady_clock::now();
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (GpuIndex gpu = static_cast<GpuIndex>(t); gpu < 10'000; gpu += kThreads) {
        const auto made =
            driver.call(fmt::format(R"("op":"foreign-create","gpu":{},"slot":0)", gpu));
        RunOrder order{.run = fmt::format("{}.1", gpu + 1),
                       .slice_uuid = made ? made->at("slice").get<std::string>() : "",
                       .full_us = kDayUs};
        if (!driver.start(gpu, order, 0)) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  EXPECT_EQ(refused, 0);
  RecordProperty("calls_per_second", static_cast<int>(20'000 / seconds));
  const auto readings = driver.read_all(10'000);
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->at(9'999).slices.at(0).run, "10000.1");
  kill_fleet();
  start("10000xA100-40GB", "1000");
  EXPECT_EQ(driver.read(9'999)->slices.at(0).run, "10000.1");
}

}  // namespace
}  // namespace smartmig
