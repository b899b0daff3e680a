#include "live_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "base/text.h"
#include "control/replay.h"
#include "drivers/simulated/fleet_process.h"
#include "mig/layout.h"

namespace smartmig {

namespace fs = std::filesystem;
using nlohmann::json;

LiveRig::LiveRig(const std::string& name) {
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '/', '-');
  dir_ = fs::temp_directory_path() / fmt::format("smartmig-live-{}-{}", getpid(), plain);
  fs::remove_all(dir_);
  fs::create_directories(fleet_dir());
  fs::create_directories(state_dir());
}

LiveRig::~LiveRig() {
  watcher_.reset();
  (void)stop_simulated_fleet(fleet_dir());
  fs::remove_all(dir_);
}

void LiveRig::start_fleet(const std::string& fleet, double speed, double misbehaving) {
  fleet_arguments_ = {"fleet", fleet_dir(), fleet, fmt::format("{}", speed),
                      fmt::format("{}", misbehaving)};
  restart_fleet();
}

void LiveRig::kill_fleet() {
  if (fleet_ <= 0) return;
  ::kill(fleet_, SIGKILL);
  waitpid(fleet_, nullptr, 0);  // It is a child of this process. Its lock is free from here on.
  fleet_ = -1;
}

void LiveRig::restart_fleet() {
  (void)stop_simulated_fleet(fleet_dir());
  const auto started = start_simulated_fleet(fleet_dir(), fleet_arguments_);
  ASSERT_TRUE(started.has_value()) << started.error().message;
  fleet_ = *started;
  if (!watcher_) watcher_ = std::make_unique<SimulatedDriver>(fleet_dir());
}

ControllerOptions LiveRig::options(const std::string& policy) const {
  ControllerOptions options;
  options.state_dir = state_dir();
  options.setup.policy = policy;
  options.version = "test";
  options.rebase_events = 60;  // Often, so that every test has some.
  return options;
}

Result<std::unique_ptr<Controller>> LiveRig::start_controller(
    const ControllerOptions& options) const {
  return Controller::start(options, std::make_unique<SimulatedDriver>(fleet_dir()));
}

json LiveRig::tell_fleet(const std::string& fields) {
  auto answer = watcher_->call(fields);
  EXPECT_TRUE(answer.has_value()) << fields << ": " << answer.error().message;
  return answer ? *answer : json();
}

std::vector<GpuReading> LiveRig::readings() {
  const auto described = watcher_->describe();
  if (!described) return {};
  auto readings = watcher_->read_all(static_cast<GpuIndex>(described->gpus.size()));
  return readings ? *readings : std::vector<GpuReading>{};
}

bool wait_until(const std::function<bool()>& what, double most_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_s);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

void run_side_by_side(int count, int rigs, const std::function<void(int)>& body) {
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (int rig = 0; rig < rigs; ++rig) {
    threads.emplace_back([&] {
      for (int i = next++; i < count && !testing::Test::HasFailure(); i = next++) body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

JobRequest job_of(double work_s, double deadline_s, const std::string& key) {
  JobRequest request;
  request.profile = "bert-training";
  request.work_s = work_s;
  request.deadline_s = deadline_s;
  request.key = key;
  return request;
}

std::string difference(const FleetView& seen, const std::vector<GpuReading>& readings) {
  if (seen.gpus.size() != readings.size()) return "another number of GPUs";
  for (const GpuView& gpu : seen.gpus) {
    const GpuReading& reading = readings[gpu.index];
    std::set<std::string> there, known;
    SlotSet slots = 0;
    for (const SliceReading& slice : reading.slices) {
      there.insert(slice.uuid);
      slots |= SlotSet{1} << slice.slot;
    }
    for (const SliceView& slice : gpu.slices) {
      if (slice.state == "foreign") return fmt::format("GPU {}: a foreign slice", gpu.index);
      known.insert(slice.uuid);
    }
    if (there != known)
      return fmt::format("GPU {}: {} slices there, {} known", gpu.index, there.size(),
                         known.size());
    const auto board = BoardTable::shipped().find(gpu.board);
    if (!board || !is_legal(**board, slots))
      return fmt::format("GPU {}: its layout is illegal", gpu.index);
  }
  return {};
}

namespace {

struct LedgerRun {
  std::string run;
  TimeUs start_us = 0;
  TimeUs end_us = -1;
  std::string outcome;
};

// As run_ledger.cc writes it.
std::vector<LedgerRun> ledger_of(LiveRig& rig) {
  std::vector<LedgerRun> runs;
  for (std::uint64_t after = 0;;) {
    const json page =
        rig.tell_fleet(fmt::format("\"op\":\"audit\",\"after\":{},\"limit\":1000", after));
    if (!page.is_object() || page.at("runs").empty()) return runs;
    for (const json& row : page.at("runs")) {
      after = row.at(0);
      runs.push_back({row.at(1), row.at(4), row.at(5), row.at(6)});
    }
  }
}

}  // namespace

std::string wrong_runs(LiveRig& rig) {
  std::map<JobNumber, std::vector<LedgerRun>> by_job;
  std::set<std::string> names;
  for (const LedgerRun& run : ledger_of(rig)) {
    if (!names.insert(run.run).second) return fmt::format("run {} was begun twice", run.run);
    by_job[*parse_integer(split(run.run, '.')[0])].push_back(run);
  }
  auto journal = JournalReader::open(rig.state_dir());
  if (!journal) return journal.error().message;
  const auto rows = journal->jobs(std::nullopt, 0, 1'000'000);
  if (!rows) return rows.error().message;
  std::map<JobNumber, JobPhase> phases;
  for (const JobRow& row : *rows) phases[row.number] = row.phase;
  for (const auto& [job, runs] : by_job) {
    bool over = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (over) return fmt::format("job {} ran on after its end", job);
      over = runs[i].outcome == "ended" || runs[i].outcome == "failed";
      const bool last = i + 1 == runs.size();
      if (!last && (runs[i].end_us < 0 || runs[i].end_us > runs[i + 1].start_us))
        return fmt::format("runs {} and {} at the same time", runs[i].run, runs[i + 1].run);
    }
    if (!phases.contains(job)) return fmt::format("job {} ran and is not in the journal", job);
    const std::string& outcome = runs.back().outcome;
    if (phases[job] == JobPhase::kDone && outcome != "ended")
      return fmt::format("job {} counts as done, its last run {}", job, outcome);
    if (is_final(phases[job]) && outcome == "under-way")
      return fmt::format("job {} is {} and runs", job, to_string(phases[job]));
  }
  for (const auto& [job, phase] : phases) {
    if (phase == JobPhase::kDone && !by_job.contains(job))
      return fmt::format("job {} is done and never ran", job);
  }
  return {};
}

bool every_intent_is_closed(const std::string& state_dir) {
  const auto intents = JournalReader::open(state_dir)->intents("", 0, 1000);
  return intents && std::all_of(intents->begin(), intents->end(),
                                [](const IntentRow& one) { return one.closed_us >= 0; });
}

std::string wrong_journal(const std::string& state_dir) {
  auto journal = JournalReader::open(state_dir);
  if (!journal) return journal.error().message;
  if (const auto verified = journal->verify(); !verified) return verified.error().message;
  const auto report = replay(*journal);
  if (!report) return report.error().message;
  return report->difference.value_or("");
}

// --- the controller's process

ControllerProcess::ControllerProcess(const LiveRig& rig, const std::string& policy,
                                     const std::string& point, int nth, int linger_ms) {
  int in[2], out[2];
  EXPECT_TRUE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  std::vector<std::string> words = {
      "/proc/self/exe", "controller", rig.state_dir(),     rig.fleet_dir(),
      policy,           point,        std::to_string(nth), std::to_string(linger_ms)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  child_ = fork();
  if (child_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

ControllerProcess::~ControllerProcess() {
  close(to_);  // It ends in peace.
  to_ = -1;
  if (!wait_until([&] { return !is_alive(); })) kill();
  close(from_);
}

bool ControllerProcess::is_alive() {
  if (child_ > 0 && waitpid(child_, nullptr, WNOHANG) == child_) child_ = -1;
  return child_ > 0;
}

void ControllerProcess::kill() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = -1;
}

std::optional<std::string> ControllerProcess::ask(const std::string& line) {
  const std::string sent = line + '\n';
  if (write(to_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size()))
    return std::nullopt;
  while (true) {
    if (const auto end = read_.find('\n'); end != std::string::npos) {
      std::string answer = read_.substr(0, end);
      read_.erase(0, end + 1);
      return answer;
    }
    char bytes[4096];
    const ssize_t got = ::read(from_, bytes, sizeof bytes);
    if (got <= 0) return std::nullopt;
    read_.append(bytes, static_cast<std::size_t>(got));
  }
}

}  // namespace smartmig
