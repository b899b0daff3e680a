// Journals that went back in time: what a killed controller left is put back with its log cut,
// emptied or removed, and a controller is started against the fleet, which remembers more. It must
// have everything, or start frozen with an alarm and touch nothing until `recover`.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "case_count.h"
#include "control/journal.h"
#include "live_fixture.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThreeGpus = "3xA100-40GB";
constexpr const char* kFixedLayouts = "static:4-3*2,7/cedf";
constexpr double kSpeed = 500;
constexpr const char* kLog = "journal.db-wal";
// SQLite's "WAL-mode file format", with pages of 4 KiB.
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrame = 24 + 4096;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  fs::permissions(path, fs::perms(0600));
}

// What is left of a controller that was killed: the files of its state folder and of the fleet, and
// what its clients were told.
struct Remains {
  std::map<std::string, std::string> state;  // Bytes by name.
  std::string fleet;                         // fleet.state
  std::set<JobNumber> accepted;

  const std::string& log() const { return state.at(kLog); }
  std::size_t frames() const { return (log().size() - kLogHeader) / kFrame; }
  // Frames up to the end of the last transaction.
  std::size_t committed_frames() const {
    std::size_t last = 0;
    for (std::size_t frame = 0; frame < frames(); ++frame) {
      const std::string_view size =
          std::string_view(log()).substr(kLogHeader + frame * kFrame + 4, 4);
      if (size != std::string_view("\0\0\0\0", 4)) last = frame + 1;
    }
    return last;
  }
};

std::size_t frames_in(const LiveRig& rig) {
  std::error_code error;
  const auto size = fs::file_size(rig.state_dir() + "/" + kLog, error);
  return error || size < kLogHeader ? 0 : (size - kLogHeader) / kFrame;
}

// Slices, and the run on each.
std::map<std::string, std::string> slices_of(LiveRig& rig) {
  std::map<std::string, std::string> slices;
  for (const GpuReading& gpu : rig.readings()) {
    for (const SliceReading& slice : gpu.slices) slices[slice.uuid] = slice.run;
  }
  return slices;
}

// Until nothing has been written for a while.
void wait_for_quiet(const LiveRig& rig) {
  for (std::size_t before = 0; frames_in(rig) != before;) {
    before = frames_in(rig);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

JobNumber must_submit(ControllerProcess& controller, double work_s) {
  static std::atomic<int> keys = 0;
  const auto answer =
      controller.ask(fmt::format("submit key{} {} 100000", ++keys, work_s)).value_or("dead");
  EXPECT_TRUE(answer.starts_with("201 ")) << answer;
  return parse_integer(answer.substr(answer.find(' ') + 1)).value_or(0);
}

// A controller works until its log has `frames` frames, is frozen, takes some more jobs, and is
// killed when it is quiet and only the long jobs run. `idle`: it is frozen from the start, so that
// the fleet never hears of anything.
Remains kill_a_controller(const std::string& name, std::uint64_t seed, std::size_t frames,
                          bool idle) {
  Random random(seed, "remains");
  Remains remains;
  LiveRig rig(name);
  rig.start_fleet(kThreeGpus, kSpeed);
  std::set<JobNumber> long_jobs;
  const auto only_long_jobs_run = [&] {
    const auto slices = slices_of(rig);
    return std::all_of(slices.begin(), slices.end(), [&](const auto& slice) {
      const std::string& run = slice.second;
      return run.empty() ||
             long_jobs.contains(parse_integer(run.substr(0, run.find('.'))).value_or(0));
    });
  };
  {
    ControllerProcess controller(rig, kFixedLayouts);
    if (idle) {
      EXPECT_EQ(controller.ask("freeze").value_or("dead"), "ok");
    } else {
      for (int i = 0; i < 2; ++i) long_jobs.insert(must_submit(controller, 1e8));
      remains.accepted = long_jobs;
    }
    while (frames_in(rig) + 60 < frames && !testing::Test::HasFailure()) {
      remains.accepted.insert(must_submit(controller, 5 + static_cast<double>(random.below(60))));
      if (random.below(10) == 0)
        (void)controller.ask(fmt::format("cancel {}", *remains.accepted.rbegin()));
      if (random.below(10) == 0) (void)controller.ask(fmt::format("cordon {}", random.below(3)));
      if (random.below(5) == 0) (void)controller.ask(fmt::format("uncordon {}", random.below(3)));
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(30)));
    }
    for (int gpu = 0; gpu < 3; ++gpu) (void)controller.ask(fmt::format("uncordon {}", gpu));
    EXPECT_EQ(controller.ask("freeze").value_or("dead"), "ok");
    EXPECT_TRUE(wait_until(only_long_jobs_run));
    wait_for_quiet(rig);
    while (frames_in(rig) < frames && !testing::Test::HasFailure())
      remains.accepted.insert(must_submit(controller, 20));
    wait_for_quiet(rig);
    controller.kill();
  }
  rig.kill_fleet();
  for (const auto& file : fs::directory_iterator(rig.state_dir())) {
    if (file.is_regular_file())
      remains.state[file.path().filename().string()] = bytes_of(file.path().string());
  }
  remains.fleet = bytes_of(rig.fleet_dir() + "/fleet.state");
  return remains;
}

// How much of the log is left; nothing: the file is gone.
using Cut = std::optional<std::size_t>;

void put_back(const LiveRig& rig, const Remains& remains, const Cut& cut) {
  fs::remove_all(rig.state_dir());
  fs::create_directories(rig.state_dir());
  for (const auto& [file, bytes] : remains.state) {
    if (file == "journal.db-shm" || (file == kLog && !cut)) continue;
    const std::string path = rig.state_dir() + "/" + file;
    put_bytes(path, file == kLog ? std::string_view(bytes).substr(0, *cut) : bytes);
  }
}

std::int64_t starts_of(LiveRig& rig) {
  return rig.tell_fleet("\"op\":\"audit\",\"after\":0,\"limit\":1").at("started");
}

std::string words_of(const Cut& cut) {
  return cut ? fmt::format("a log of {} bytes", *cut) : "no log";
}

// Jobs that the alarm names: "job 7", "jobs 7 to 12".
std::set<JobNumber> named_in(const std::string& text) {
  std::set<JobNumber> named;
  static const std::regex kJobs("jobs? ([0-9]+)(?: to ([0-9]+))?");
  for (std::sregex_iterator at(text.begin(), text.end(), kJobs), end; at != end; ++at) {
    const JobNumber first = *parse_integer((*at)[1].str());
    const JobNumber last = (*at)[2].matched ? *parse_integer((*at)[2].str()) : first;
    for (JobNumber job = first; job <= last && job < first + 10'000; ++job) named.insert(job);
  }
  return named;
}

// It is frozen and says so.
void expect_doubt(Controller& controller) {
  const FleetSummary seen = controller.summary();
  EXPECT_FALSE(seen.recovered);
  EXPECT_TRUE(seen.frozen);
  EXPECT_FALSE(seen.trouble.empty());
  EXPECT_EQ(seen.trouble.find('\n'), std::string::npos) << seen.trouble;
  EXPECT_FALSE(controller.ready());
  Command unfreeze;
  unfreeze.kind = Command::Kind::kUnfreeze;
  const auto told = controller.command(unfreeze, "test");
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().status, 409);
}

std::set<JobNumber> jobs_in(const LiveRig& rig) {
  std::set<JobNumber> jobs;
  auto journal = JournalReader::open(rig.state_dir());
  EXPECT_TRUE(journal.has_value()) << journal.error().message;
  const auto rows = journal->jobs(std::nullopt, 0, 1'000'000);
  EXPECT_TRUE(rows.has_value());
  for (const JobRow& row : *rows) jobs.insert(row.number);
  return jobs;
}

// The fleet is as it was over all of them: 32 controllers that believed their journals would have
// stopped its runs at the first.
void try_cuts(const Remains& remains, const std::string& name, Random& random) {
  LiveRig rig(name);
  put_bytes(rig.fleet_dir() + "/fleet.state", remains.fleet);
  rig.start_fleet(kThreeGpus, kSpeed);
  const auto slices = slices_of(rig);
  const std::int64_t starts = starts_of(rig);
  const std::size_t end = kLogHeader + remains.committed_frames() * kFrame;
  for (int i = 0; i < 16 && !testing::Test::HasFailure(); ++i) {
    Cut cut = random.below(end);
    if (i == 0) cut = 0;
    if (i == 1) cut.reset();
    if (i == 2) cut = end - 1;
    if (i == 3) cut = kLogHeader;
    SCOPED_TRACE(words_of(cut));
    put_back(rig, remains, cut);
    auto controller = rig.start_controller(rig.options(kFixedLayouts));
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    expect_doubt(**controller);
    const std::set<JobNumber> named = named_in((*controller)->summary().trouble);
    const std::set<JobNumber> kept = jobs_in(rig);
    for (const JobNumber job : remains.accepted)
      EXPECT_TRUE(kept.contains(job) || named.contains(job)) << "job " << job << " is forgotten";
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_EQ(slices_of(rig), slices);
    EXPECT_EQ(starts_of(rig), starts);
  }
}

TEST(LiveBack, AJournalWithoutTheEndOfItsLogIsNotBelieved) {
  const std::uint64_t seed = seed_of_this_run();
  SCOPED_TRACE(fmt::format("SMARTMIG_SEED={}", seed));
  Random random(seed, "cuts");
  for (const bool idle : {false, true}) {
    SCOPED_TRACE(idle ? "a fleet that never heard of it" : "a busy fleet");
    const Remains remains = kill_a_controller("back-made", seed, idle ? 80 : 150, idle);
    ASSERT_GT(remains.committed_frames(), 50u);
    try_cuts(remains, "back", random);
  }
}

TEST(LiveBack, AWholeLogIsBelieved) {
  const Remains remains = kill_a_controller("back-made", 7, 100, false);
  LiveRig rig("back");
  put_bytes(rig.fleet_dir() + "/fleet.state", remains.fleet);
  rig.start_fleet(kThreeGpus, kSpeed);
  put_back(rig, remains, remains.log().size());
  auto controller = rig.start_controller(rig.options(kFixedLayouts));
  ASSERT_TRUE(controller.has_value()) << controller.error().message;
  EXPECT_TRUE((*controller)->summary().recovered);
  EXPECT_TRUE((*controller)->summary().frozen) << "as the operator had said";
  EXPECT_EQ((*controller)->summary().trouble, "");
  EXPECT_EQ(jobs_in(rig), remains.accepted);
}

// --- files that vanish while it runs

class LiveBackFiles : public testing::TestWithParam<const char*> {};

TEST_P(LiveBackFiles, NothingIsAcceptedOnceTheyAreGone) {
  LiveRig rig("gone");
  rig.start_fleet(kThreeGpus, kSpeed);
  auto started = rig.start_controller(rig.options(kFixedLayouts));
  ASSERT_TRUE(started.has_value()) << started.error().message;
  Controller& controller = **started;
  const auto before = controller.submit(job_of(1e8, 1e9), "test");
  ASSERT_TRUE(before.has_value());
  ASSERT_TRUE(wait_until([&] { return slices_of(rig).size() > 1; }));
  const std::string gone = fs::path(rig.state_dir() + "/" + GetParam()).lexically_normal().string();
  fs::rename(fs::path(gone).has_filename() ? gone : rig.state_dir(), rig.state_dir() + "-moved");
  const auto refused = controller.submit(job_of(10, 1e5), "test");
  ASSERT_FALSE(refused.has_value()) << "it is nowhere";
  EXPECT_EQ(refused.error().status, 503);
  EXPECT_NE(refused.error().error.find("removed or replaced"), std::string::npos)
      << refused.error().error;
  EXPECT_NE(controller.summary().trouble.find("removed or replaced"), std::string::npos);
  EXPECT_FALSE(controller.ready());
  EXPECT_FALSE(controller.submit(job_of(10, 1e5), "test").has_value());
}

TEST_P(LiveBackFiles, AreMissedWithoutAnythingToWrite) {
  LiveRig rig("missed");
  rig.start_fleet(kThreeGpus, kSpeed);
  auto started = rig.start_controller(rig.options(kFixedLayouts));
  ASSERT_TRUE(started.has_value()) << started.error().message;
  wait_for_quiet(rig);
  ASSERT_TRUE((*started)->ready());
  const std::string gone = fs::path(rig.state_dir() + "/" + GetParam()).lexically_normal().string();
  fs::rename(fs::path(gone).has_filename() ? gone : rig.state_dir(), rig.state_dir() + "-moved");
  EXPECT_TRUE(wait_until([&] { return !(*started)->ready(); }));
  EXPECT_NE((*started)->summary().trouble.find("removed or replaced"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Files, LiveBackFiles,
                         testing::Values("journal.db", "journal.db-wal", "journal.mark", ""),
                         [](const testing::TestParamInfo<const char*>& file) {
                           std::string name = *file.param == 0 ? "folder" : file.param;
                           std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
                           return name;
                         });

// --- a cut at every frame, and what comes after `recover`

struct Counts {
  std::atomic<int> cuts = 0, whole = 0, alarms = 0, forgotten = 0;
};

Command command_of(Command::Kind kind, const std::string& gpu = "") {
  Command command;
  command.kind = kind;
  command.gpu = gpu;
  return command;
}

class CutCase {
 public:
  CutCase(const Remains& remains, const Cut& cut, int number, Counts& counts)
      : remains_(remains), counts_(counts), rig_(fmt::format("cut-{}", number)) {
    put_bytes(rig_.fleet_dir() + "/fleet.state", remains.fleet);
    rig_.start_fleet(kThreeGpus, kSpeed);
    put_back(rig_, remains, cut);
    is_whole_ = cut && *cut >= kLogHeader + remains.committed_frames() * kFrame;
  }

  void run() {
    const auto slices = slices_of(rig_);
    const std::int64_t starts = starts_of(rig_);
    auto started = rig_.start_controller(rig_.options(kFixedLayouts));
    ASSERT_TRUE(started.has_value()) << started.error().message;
    controller_ = std::move(*started);
    ++counts_.cuts;
    if (is_whole_) {
      ++counts_.whole;
      EXPECT_TRUE(controller_->summary().recovered) << controller_->summary().trouble;
      EXPECT_EQ(controller_->summary().trouble, "");
      EXPECT_EQ(jobs_in(rig_), remains_.accepted);
      tell(Command::Kind::kUnfreeze);
    } else {
      ++counts_.alarms;
      expect_doubt(*controller_);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      EXPECT_EQ(slices_of(rig_), slices);
      EXPECT_EQ(starts_of(rig_), starts);
      expect_forgotten_named();
      tell(Command::Kind::kRecover);
    }
    EXPECT_TRUE(controller_->summary().recovered);
    EXPECT_FALSE(controller_->summary().frozen);
    expect_to_work();
    for (const auto& [slice, run] : slices) {
      if (!run.empty()) {
        EXPECT_TRUE(runs().contains(run)) << run << " was stopped";
      }
    }
    controller_.reset();
    expect_no_doubles();
  }

 private:
  void tell(Command::Kind kind, const std::string& gpu = "") {
    const auto told = controller_->command(command_of(kind, gpu), "test");
    EXPECT_TRUE(told.has_value()) << told.error().error;
  }
  std::set<std::string> runs() {
    std::set<std::string> names;
    for (const auto& [slice, run] : slices_of(rig_)) names.insert(run);
    return names;
  }
  void expect_forgotten_named() {
    const std::set<JobNumber> named = named_in(controller_->summary().trouble);
    const std::set<JobNumber> kept = jobs_in(rig_);
    for (const JobNumber job : remains_.accepted) {
      if (kept.contains(job)) continue;
      ++counts_.forgotten;
      EXPECT_TRUE(named.contains(job)) << "job " << job << " is forgotten without a word";
    }
  }
  // A new job gets a number of its own and runs; jobs that it knows come to their end.
  void expect_to_work() {
    for (const char* gpu : {"0", "1", "2"}) tell(Command::Kind::kAdopt, gpu);
    const auto done = controller_->submit(job_of(10, 1e5), "test");
    ASSERT_TRUE(done.has_value()) << done.error().error;
    EXPECT_GT(done->id, *remains_.accepted.rbegin()) << "a number is given twice";
    const auto phase = [&](JobNumber job) {
      return (*JournalReader::open(rig_.state_dir())->job(job))->phase;
    };
    EXPECT_TRUE(wait_until([&] { return phase(done->id) == JobPhase::kDone; }))
        << to_string(phase(done->id));
  }
  // By the fleet's own ledger: no job ran twice at once, none again after its end.
  void expect_no_doubles() {
    std::map<std::string, std::int64_t> last_end;
    std::set<std::string> names, over;
    const auto page = rig_.tell_fleet("\"op\":\"audit\",\"after\":0,\"limit\":10000");
    for (const auto& row : page.at("runs")) {
      const std::string run = row.at(1);
      const std::string job = run.substr(0, run.find('.'));
      EXPECT_TRUE(names.insert(run).second) << run << " was begun twice";
      EXPECT_FALSE(over.contains(job)) << run << " ran after the job's end";
      if (last_end.contains(job)) {
        EXPECT_TRUE(last_end[job] >= 0 && last_end[job] <= row.at(4).get<std::int64_t>())
            << run << " beside another of its job";
      }
      last_end[job] = row.at(5);
      const std::string outcome = row.at(6);
      if (outcome == "ended" || outcome == "failed") over.insert(job);
    }
  }

  const Remains& remains_;
  Counts& counts_;
  LiveRig rig_;
  std::unique_ptr<Controller> controller_;
  bool is_whole_ = false;
};

// SMARTMIG_CASES=500: the log has 500 frames, and each is the last that is left once.
TEST(LiveBackCut, AtEveryFrameItHasEverythingOrSaysThatItHasNot) {
  const std::uint64_t seed = seed_of_this_run();
  std::printf("SMARTMIG_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const auto frames = static_cast<std::size_t>(std::max(100, case_count(100)));
  const Remains remains = kill_a_controller("cut-made", seed, frames, false);
  ASSERT_FALSE(HasFailure());
  ASSERT_GE(remains.frames(), frames);
  Random random(seed, "cuts");
  std::vector<Cut> cuts = {std::nullopt, 0};
  const std::size_t step = case_count(10) >= static_cast<int>(frames) ? 1 : frames / 10;
  for (std::size_t frame = 0; frame <= remains.frames(); ++frame) {
    const std::size_t at = kLogHeader + frame * kFrame;
    if (frame % step == 0 || frame + 1 >= remains.frames()) cuts.emplace_back(at);
    if (frame % step == 1 % step && frame < remains.frames())
      cuts.emplace_back(at + 1 + random.below(kFrame - 1));
  }
  Counts counts;
  run_side_by_side(static_cast<int>(cuts.size()), 3, [&](int i) {
    const Cut& cut = cuts[static_cast<std::size_t>(i)];
    SCOPED_TRACE(fmt::format("SMARTMIG_SEED={}, {}", seed, words_of(cut)));
    CutCase(remains, cut, i, counts).run();
  });
  std::printf(
      "%d cuts of a log of %zu frames, %zu jobs accepted: %d left the journal whole, %d raised the "
      "alarm, which named %d forgotten jobs\n",
      counts.cuts.load(), remains.frames(), remains.accepted.size(), counts.whole.load(),
      counts.alarms.load(), counts.forgotten.load());
}

}  // namespace
}  // namespace smartmig
