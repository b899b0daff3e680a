#include "fault_bench.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "case_count.h"
#include "control/journal.h"
#include "control/steps.h"
#include "mig/layout.h"

namespace smartmig {
namespace {

constexpr int kFleets = 8;             // They mostly wait.
constexpr double kCallTimeoutS = 0.4;  // Between kSlow and kLate.

}  // namespace

std::vector<Strike> every_strike() {
  using Kind = Strike::Kind;
  std::vector<Strike> strikes;
  for (int i = 0; i <= static_cast<int>(DriverCode::kUnknown); ++i) {
    const std::string code(to_string(static_cast<DriverCode>(i)));
    strikes.push_back({Kind::kError, code, fmt::format("\"code\":\"{}\"", code), code});
    strikes.push_back(
        {Kind::kLie, code + ", a lie", fmt::format("\"code\":\"{}\",\"done\":true", code), code});
  }
  strikes.push_back({Kind::kHang, "hang", "\"hang\":true", "has not answered"});
  strikes.push_back(
      {Kind::kHangDone, "hang, but done", "\"hang\":true,\"done\":true", "has not answered"});
  strikes.push_back({Kind::kLate, "late", "\"delay_s\":0.6", "has not answered"});
  strikes.push_back({Kind::kSlow, "slow", "\"delay_s\":0.1", ""});
  return strikes;
}

FaultBench::FaultBench(const std::string& name, Kind kind) : rig_(name) {
  rig_.start_fleet("2xA100-40GB", 500);
  const bool is_busy = kind == Kind::kBusy;
  options_ = rig_.options(is_busy ? "static:3-3,7/cedf" : "static:7,3-3/cedf");
  options_.retry_first_s = 20;  // 40 ms here.
  options_.retry_most_s = 200;
  options_.call_timeout_s = kCallTimeoutS;
  options_.workers = 4;
  const auto started = start_controller();
  EXPECT_TRUE(started.has_value()) << started.error().message;
  EXPECT_TRUE(wait_until([&] {
    return gpu(0).layout == (is_busy ? "3-3" : "7") && gpu(1).layout == (is_busy ? "7" : "3-3");
  }));
  if (is_busy) occupy();
  freeze(true);
}

// The job takes a slice of the first GPU, the other one being closed.
void FaultBench::occupy() {
  tell(Command::Kind::kCordon, 1);
  (void)submit(1e6, 1e7);
  EXPECT_TRUE(wait_until([&] { return busy().has_value(); }));
  occupied_ = busy();
  tell(Command::Kind::kUncordon, 1);
}

Result<void> FaultBench::start_controller() {
  auto started = rig_.start_controller(options_);
  if (!started) return pass_on(started);
  controller_ = std::move(*started);
  return {};
}

void FaultBench::restart_controller() {
  stop_controller();
  std::string why;
  // A busy host may take longer for an answer than a call may take here.
  EXPECT_TRUE(wait_until([&] {
    const auto started = start_controller();
    if (!started) why = started.error().message;
    return started.has_value();
  })) << why;
}

std::string FaultBench::close() {
  stop_controller();
  const std::string runs = wrong_runs(rig_);
  return runs.empty() ? wrong_journal(rig_.state_dir()) : runs;
}

void FaultBench::freeze(bool on) {
  Command command;
  command.kind = on ? Command::Kind::kFreeze : Command::Kind::kUnfreeze;
  EXPECT_TRUE(controller_->command(command, "test").has_value());
}

void FaultBench::tell(Command::Kind kind, int gpu) {
  Command command;
  command.kind = kind;
  command.gpu = std::to_string(gpu);
  EXPECT_TRUE(controller_->command(command, "test").has_value());
}

bool FaultBench::apply(int gpu, const std::string& layout) {
  Command command;
  command.kind = Command::Kind::kApply;
  command.layouts = {{std::to_string(gpu), layout}};
  return controller_->command(command, "test").has_value();
}

void FaultBench::inject(const Aim& aim, const Strike& strike) {
  hangs_ = hangs_ || strike.hangs();
  const bool about_a_gpu = aim.call != "events" && aim.call != "claim";
  rig_.tell_fleet(fmt::format("\"op\":\"inject\",{}\"call\":\"{}\",\"nth\":{},\"times\":{},{}",
                              about_a_gpu ? "\"gpu\":0," : "", aim.call, aim.nth,
                              aim.for_ever ? 0 : 1, strike.fields));
}

void FaultBench::blind(int nth, int looks) {
  rig_.tell_fleet(fmt::format(
      "\"op\":\"inject\",\"gpu\":0,\"call\":\"read\",\"nth\":{},\"times\":{},\"code\":\"unknown\"",
      nth, looks));
}

bool FaultBench::all_struck() { return rig_.tell_fleet("\"op\":\"list\"").at("faults").empty(); }

void FaultBench::clear() {
  rig_.tell_fleet("\"op\":\"clear\"");
  // Calls that hang end with the connection.
  if (std::exchange(hangs_, false)) rig_.restart_fleet();
}

std::string FaultBench::real_layout(int index) {
  const auto readings = rig_.readings();  // All of them: faults of a GPU do not strike it.
  if (readings.empty()) return "?";
  return layout_name(**BoardTable::shipped().find("A100-40GB"),
                     slots_of(readings[static_cast<std::size_t>(index)]));
}

std::optional<SliceView> FaultBench::busy() {
  for (const SliceView& slice : gpu(0).slices) {
    if (slice.job != 0) return slice;
  }
  return std::nullopt;
}

JobNumber FaultBench::submit(double work_s, double deadline_s, const std::string& profile) {
  JobRequest request = job_of(work_s, deadline_s);
  request.profile = profile;
  const auto done = controller_->submit(request, "test");
  EXPECT_TRUE(done.has_value()) << done.error().error;
  return done ? done->id : 0;
}

JobRow FaultBench::row(JobNumber job) {
  auto journal = JournalReader::open(rig_.state_dir());
  if (!journal) return {};
  const auto found = journal->job(job);
  return found && *found ? **found : JobRow{};
}

bool FaultBench::comes_to(JobNumber job, JobPhase phase, int attempt) {
  auto journal = JournalReader::open(rig_.state_dir());
  return journal && wait_until([&] {
           const auto found = journal->job(job);
           return found && *found && (*found)->phase == phase &&
                  (attempt == 0 || (*found)->attempt == attempt);
         });
}

std::string FaultBench::comes_back(const std::string& one, const std::string& other) {
  const bool back = wait_until([&] {
    const GpuView view = gpu(0);
    // A slice that is being made is part of the layout already.
    const bool settled = std::all_of(view.slices.begin(), view.slices.end(),
                                     [](const SliceView& slice) { return slice.state == "ready"; });
    return settled && view.state == "up" && view.layout == view.target &&
           (view.layout == one || view.layout == other) && view.layout == real_layout(0);
  });
  const GpuView view = gpu(0);
  if (!back)
    return fmt::format("it is {} with {} on its way to {}, the hardware has {}: {}", view.state,
                       view.layout, view.target, real_layout(0), view.trouble);
  if (!occupied_) return {};
  const auto now = busy();
  if (!now || now->uuid != occupied_->uuid || now->job != occupied_->job ||
      row(now->job).attempt != 1)
    return "the busy slice beside the change is not what it was";
  return {};
}

std::string FaultBench::is_fenced(const Strike& strike) {
  GpuView view;
  const bool fenced = wait_until([&] {
    view = gpu(0);
    return view.state == "fenced" && view.trouble.find(strike.says) != std::string::npos;
  });
  if (!fenced)
    return fmt::format("it is {}, expected fenced with a word of {}: {}", view.state, strike.says,
                       view.trouble);
  return view.trouble.find('\n') == std::string::npos ? "" : "more than one line: " + view.trouble;
}

std::string FaultBench::is_fenced_alone(const Strike& strike) {
  if (auto what = is_fenced(strike); !what.empty()) return what;
  // Tries go on and do not open it; while a call is out there are none.
  const TimeUs first = gpu(0).retry_us;
  bool opened = false;
  const bool tried = strike.hangs() || wait_until([&] {
                       const GpuView view = gpu(0);
                       opened = opened || view.state != "fenced";
                       return view.retry_us > first;
                     });
  if (opened) return "a try opened it";
  if (!tried) return "it is not tried again";
  freeze(false);
  const auto before = controller_->counters().done;
  (void)submit(5, 60);
  const bool works = wait_until([&] { return controller_->counters().done == before + 1; });
  freeze(true);
  if (!works) return "the other GPU does not work";
  return gpu(0).state == "fenced" ? "" : "it is open while the fault is there";
}

void run_fault_cases(std::vector<FaultCase> cases, int usual) {
  const std::uint64_t seed = seed_of_this_run();
  const std::size_t all = cases.size();
  Random random(seed, "faults");
  for (std::size_t i = all; i > 1; --i) std::swap(cases[i - 1], cases[random.below(i)]);
  cases.resize(std::min(all, static_cast<std::size_t>(case_count(usual))));
  std::printf("SMARTMIG_SEED=%llu: %zu of %zu cases\n", static_cast<unsigned long long>(seed),
              cases.size(), all);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  const auto note = [&](const std::string& name, const std::string& what) {
    const std::lock_guard lock(mutex);
    wrong.push_back(fmt::format("{}: {}", name, what));
  };
  const auto work = [&](int worker) {
    std::map<FaultBench::Kind, std::unique_ptr<FaultBench>> benches;
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const FaultCase& one = cases[i];
      auto& bench = benches[one.bench];
      if (!bench)
        bench = std::make_unique<FaultBench>(
            fmt::format("{}-{}-{}", testing::UnitTest::GetInstance()->current_test_info()->name(),
                        worker, i),
            one.bench);
      const std::string what = one.run(*bench);
      if (what.empty()) continue;
      note(one.name, what);
      bench.reset();  // The next case gets one that nothing has happened to.
    }
    for (auto& [kind, bench] : benches) {
      if (!bench) continue;
      if (const std::string what = bench->close(); !what.empty()) note("at the end", what);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < kFleets; ++i) workers.emplace_back(work, i);
  for (std::thread& worker : workers) worker.join();
  for (const std::string& what : wrong) ADD_FAILURE() << what << " (SMARTMIG_SEED=" << seed << ")";
}

}  // namespace smartmig
