#include "control/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

#include "control/journal_schema.h"
#include "control/journal_test_rows.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

void must_commit(Journal& journal) {
  const auto done = journal.commit();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

JournalState must_load(Journal& journal) {
  auto state = journal.load();
  if (!state) ADD_FAILURE() << state.error().message;
  return std::move(state.value());
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(Journal, NamesPhasesBothWays) {
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(job_phase(to_string(static_cast<JobPhase>(i))), static_cast<JobPhase>(i));
  }
  EXPECT_EQ(to_string(JobPhase::kQueued), "queued");
  EXPECT_EQ(to_string(JobPhase::kCancelled), "cancelled");
  EXPECT_EQ(job_phase("lost"), std::nullopt);
}

TEST(Journal, StartsEmptyAndForItsOwnerAlone) {
  const TestFolder folder;
  const mode_t before = ::umask(0);
  Journal journal = must_open(folder.path("a/b/"));
  ::umask(before);
  const JournalState state = must_load(journal);
  EXPECT_TRUE(state.jobs.empty() && state.slices.empty() && state.intents.empty());
  EXPECT_EQ(state.next_job, 1);
  EXPECT_EQ(state.next_intent, 1);
  EXPECT_EQ(state.next_event, 1);
  EXPECT_EQ(state.next_audit, 1);
  EXPECT_EQ(journal.setting("none"), "");
  EXPECT_EQ(mode_of(folder.path("a/b")), 0700u);
  EXPECT_EQ(mode_of(folder.path("a/b/journal.db")), 0600u);
  EXPECT_EQ(mode_of(folder.path("a/b/journal.db-wal")), 0600u);
}

TEST(Journal, LoadsWhatIsNotFinished) {
  const TestFolder folder;
  Random random(1, "journal");
  JobRow queued = random_job(random, 3);
  queued.phase = JobPhase::kSaving;
  JobRow done = random_job(random, 4);
  done.phase = JobPhase::kDone;
  IntentRow open = random_intent(random, 7);
  open.closed_us = -1;
  IntentRow closed = random_intent(random, 8);
  closed.closed_us = 0;
  {
    Journal journal = must_open(folder.path());
    journal.begin();
    journal.put(queued);
    journal.put(done);
    journal.put(open);
    journal.put(closed);
    journal.put(random_slice(random, 1));
    journal.put(random_slice(random, 2));
    journal.forget_slice("MIG-1");
    journal.put(random_gpu(random, 5));
    journal.put(random_event(random, 11));
    journal.put(random_audit(random, 2));
    journal.set_setting("policy", "smartmig");
    must_commit(journal);
  }
  Journal journal = must_open(folder.path());
  const JournalState state = must_load(journal);
  EXPECT_EQ(state.jobs, std::vector{queued});
  EXPECT_EQ(state.intents, std::vector{open});
  ASSERT_EQ(state.slices.size(), 1u);
  EXPECT_EQ(state.slices[0].uuid, "MIG-2");
  EXPECT_EQ(state.gpus.size(), 1u);
  EXPECT_EQ(state.next_job, 5);
  EXPECT_EQ(state.next_intent, 9);
  EXPECT_EQ(state.next_event, 12);
  EXPECT_EQ(state.next_audit, 3);
  EXPECT_EQ(journal.setting("policy"), "smartmig");
}

TEST(Journal, TakesExtremeValues) {
  const TestFolder folder;
  JobRow job;
  job.number = INT64_MAX - 1;
  job.body = std::string("a\0b\xff'\"", 6);
  job.submit_us = INT64_MIN;
  job.deadline_us = kNever;
  job.left = -0.0;
  job.attempt = -1;
  IntentRow intent;
  intent.number = 1;
  intent.base = ~SlotSet{0};
  intent.target = SlotSet{1} << 63;
  {
    Journal journal = must_open(folder.path());
    journal.begin();
    journal.put(job);
    journal.put(intent);
    must_commit(journal);
  }
  Journal journal = must_open(folder.path());
  EXPECT_EQ(must_load(journal).jobs, std::vector{job});
  EXPECT_EQ(must_load(journal).intents, std::vector{intent});
}

TEST(Journal, UndoesATransactionWithAnErrorInIt) {
  const TestFolder folder;
  Journal journal = must_open(folder.path());
  JobRow job;
  job.number = 1;
  job.owner = "alice";
  job.key = "k";
  journal.begin();
  journal.put(job);
  must_commit(journal);
  // The same key again, under another number.
  job.number = 2;
  journal.begin();
  journal.set_setting("a", "b");
  journal.put(job);
  journal.set_setting("c", "d");
  const auto done = journal.commit();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message,
            "journal.db: jobs: UNIQUE constraint failed: jobs.owner, jobs.key");
  EXPECT_EQ(journal.setting("a"), "");
  EXPECT_EQ(must_load(journal).next_job, 2);
  // Another owner may use it, and no key at all is no key in common.
  job.owner = "bob";
  journal.begin();
  journal.put(job);
  for (std::int64_t number : {3, 4}) {
    job.number = number;
    job.key.clear();
    journal.put(job);
  }
  must_commit(journal);
  EXPECT_EQ(must_load(journal).next_job, 5);
}

TEST(Journal, TrimsWhatIsOldAndFinishedAndGivesNoNumberTwice) {
  const TestFolder folder;
  {
    Journal journal = must_open(folder.path());
    journal.begin();
    for (std::int64_t number = 1; number <= 10; ++number) {
      const TimeUs time = 100 * number;
      JobRow job;
      job.number = number;
      job.phase = number == 1 ? JobPhase::kRunning : JobPhase::kFailed;
      job.end_us = number == 1 ? -1 : time;
      journal.put(job);
      IntentRow intent;
      intent.number = number;
      intent.closed_us = number == 2 ? -1 : time;
      journal.put(intent);
      journal.put(EventRow{number, time, "", ""});
      journal.put(DecisionRow{number, time, "", ""});
      journal.put(AuditRow{number, time, 0, "", ""});
    }
    must_commit(journal);
    Journal::Kept kept{.since_us = 501, .rows = 10, .jobs_from = 1, .first_event = 4};
    EXPECT_EQ(journal.trim(kept, 2), true);
    EXPECT_EQ(journal.trim(kept, 2), true);
    EXPECT_EQ(journal.trim(kept, 2), false);
    auto reader = JournalReader::open(folder.path());
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ(reader->jobs(std::nullopt, 0, 99)->size(), 6u);  // 1 runs, 6 to 10 are too young.
    EXPECT_EQ(reader->intents("", 0, 99)->size(), 6u);         // 2 is open.
    EXPECT_EQ(reader->decisions(0, 99)->size(), 7u);
    EXPECT_EQ(reader->audit(0, 99)->size(), 5u);
    std::vector<std::int64_t> events;
    ASSERT_TRUE(reader->each_event(0, [&](const EventRow& event) {
      events.push_back(event.number);
      return true;
    }));
    EXPECT_EQ(events, (std::vector<std::int64_t>{4, 5, 6, 7, 8, 9, 10}));

    // The last four of each; a job that runs and an intent that is open stay.
    kept.rows = 4;
    kept.jobs_from = 7;  // Those before it were numbered otherwise.
    EXPECT_EQ(journal.trim(kept, 100), false);
    EXPECT_EQ(reader->jobs(std::nullopt, 0, 99)->size(), 6u);
    kept.jobs_from = 1;
    EXPECT_EQ(journal.trim(kept, 100), false);
    EXPECT_EQ(reader->jobs(std::nullopt, 0, 99)->size(), 5u);
    EXPECT_EQ(reader->intents("", 0, 99)->size(), 5u);
    EXPECT_EQ(reader->audit(0, 99)->size(), 4u);

    JobRow last;
    last.number = 1;
    last.phase = JobPhase::kDone;
    last.end_us = 1;
    IntentRow closed;
    closed.number = 2;
    closed.closed_us = 1;
    journal.begin();
    journal.put(last);
    journal.put(closed);
    must_commit(journal);
    EXPECT_EQ(journal.trim({kNever, 10, 1, kNever}, 100), false);
    EXPECT_TRUE(reader->jobs(std::nullopt, 0, 99)->empty());
  }
  Journal journal = must_open(folder.path());
  const JournalState state = must_load(journal);
  EXPECT_EQ(state.next_job, 11);
  EXPECT_EQ(state.next_intent, 11);
  EXPECT_EQ(state.next_event, 11);
  EXPECT_EQ(state.next_audit, 11);
}

TEST(Journal, RefusesASecondWriterAndNamesTheFirst) {
  const TestFolder folder;
  std::optional<Journal> first = must_open(folder.path());
  const auto second = Journal::open(folder.path());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().trouble, Journal::Trouble::kUnusable);
  EXPECT_EQ(second.error().message,
            fmt::format("{}: is in use by process {}: two controllers cannot share a state folder",
                        folder.path(), ::getpid()));
  EXPECT_FALSE(Journal::set_aside(folder.path()).has_value());
  first.reset();
  EXPECT_TRUE(Journal::open(folder.path()).has_value());
}

TEST(Journal, KeepsItsLogSmall) {
  const TestFolder folder;
  Journal journal = must_open(folder.path());
  std::uintmax_t largest = 0;
  for (int i = 1; i <= 300; ++i) {
    journal.begin();
    journal.put(EventRow{i, 0, "", std::string(100'000, 'x')});
    must_commit(journal);
    journal.rest();
    largest = std::max(largest, fs::file_size(folder.path() + "/journal.db-wal"));
  }
  EXPECT_GT(fs::file_size(folder.path() + "/journal.db"), 20u << 20);
  EXPECT_LT(largest, 10u << 20);
}

TEST(Journal, BoundsItsLogEvenWithoutRest) {
  const TestFolder folder;
  Journal journal = must_open(folder.path());
  for (int i = 1; i <= 40; ++i) {
    journal.begin();
    // Pages that do not change are not written.
    journal.put(EventRow{i % 2, 0, "", std::string(4'000'000, static_cast<char>('a' + i % 26))});
    must_commit(journal);
  }
  EXPECT_LT(fs::file_size(folder.path() + "/journal.db-wal"), 80u << 20);
}

TEST(Journal, BacksItselfUpWhole) {
  const TestFolder folder;
  Random random(2, "journal");
  JobRow job = random_job(random, 1);
  job.phase = JobPhase::kQueued;
  {
    Journal journal = must_open(folder.path());
    journal.begin();
    journal.put(job);
    must_commit(journal);
    fs::create_directory(folder.path("copy"));
    std::ofstream(folder.path("copy/journal.db")) << "an older one";
    JournalReader reader = *JournalReader::open(folder.path());
    const auto copied = reader.back_up(folder.path("copy/journal.db"));
    ASSERT_TRUE(copied.has_value()) << copied.error().message;
    EXPECT_EQ(mode_of(folder.path("copy/journal.db")), 0600u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("copy")), fs::directory_iterator()),
              1);
    EXPECT_FALSE(reader.back_up(folder.path("state/journal.db")).has_value());
    EXPECT_FALSE(reader.back_up(folder.path("absent/journal.db")).has_value());
    EXPECT_EQ(must_load(journal).jobs, std::vector{job});
  }
  Journal copy = must_open(folder.path("copy"));
  EXPECT_EQ(must_load(copy).jobs, std::vector{job});
}

class JournalBackup : public testing::Test {
 protected:
  JournalBackup() {
    journal_.begin();
    journal_.put(EventRow{1, 0, "submit", "{}"});
    must_commit(journal_);
    fs::create_directory(folder_.path("state/fleet"));
    std::ofstream(folder_.path("state/fleet/fleet.state")) << "a fleet";
    std::ofstream(folder_.path("state/tokens")) << "secret";
    std::ofstream(folder_.path("state/notes")) << "an operator's";
    fs::create_directory_symlink(folder_.path("state"), folder_.path("link"));
    fs::create_hard_link(folder_.path("state/journal.db-wal"), folder_.path("hard"));
    fs::create_symlink(folder_.path("state/journal.mark"), folder_.path("soft"));
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path("state"))) {
      if (!entry.is_regular_file() || entry.path().string().ends_with("-shm")) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      found[entry.path().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return found;
  }
  const TestFolder folder_;
  Journal journal_ = must_open(folder_.path());
  JournalReader reader_ = *JournalReader::open(folder_.path());
};

TEST_F(JournalBackup, RefusesEveryNameThatTheStateFolderUsesByWhateverPath) {
  const auto before = files();
  for (const char* target : {"state/journal.db",
                             "state/journal.db-wal",
                             "state/journal.db-shm",
                             "state/journal.db-journal",
                             "state/journal.mark",
                             "state/journal.mark.new",
                             "state/lock",
                             "state/fleet/fleet.state",
                             "state/fleet/other",
                             "state/fleet",
                             "state/damaged-1/journal.db",
                             "state/tokens",
                             "state/notes",
                             "state",
                             "state/",
                             "link/journal.db-wal",
                             "link/../state/journal.db-wal",
                             "state/../state/./journal.db-wal",
                             "link/journal.mark",
                             "hard",
                             "soft",
                             "elsewhere-wal",
                             "elsewhere-shm"}) {
    const auto copied = reader_.back_up(folder_.path(target));
    EXPECT_FALSE(copied.has_value()) << target;
    EXPECT_EQ(reader_.check_target(folder_.path(target)).has_value(), false) << target;
    if (!copied) {
      EXPECT_EQ(copied.error().message.find('\n'), std::string::npos);
      EXPECT_TRUE(copied.error().message.starts_with(folder_.path(target)))
          << copied.error().message;
    }
  }
  EXPECT_EQ(files(), before);
  journal_.begin();
  journal_.put(EventRow{2, 0, "submit", "{}"});
  must_commit(journal_);
  // A name of its own is allowed, there too, and again.
  for (int i = 0; i < 2; ++i) {
    const auto copied = reader_.back_up(folder_.path("state/before-upgrade"));
    EXPECT_TRUE(copied.has_value()) << copied.error().message;
  }
  EXPECT_TRUE(JournalReader::open_file(folder_.path("state/before-upgrade"))->verify());
}

TEST_F(JournalBackup, RemovesWhatAKilledBackupLeft) {
  const auto leave = [&] {
    for (const char* name : {"copy.partial", "copy.partial-journal", "copy.tmp123"}) {
      std::ofstream(folder_.path("state/" + std::string(name))) << "half";
      std::ofstream(folder_.path(name)) << "half";
    }
  };
  const auto left = [&](const std::string& dir) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(dir))
      count += entry.path().filename().string().starts_with("copy.");
    return count;
  };
  leave();
  EXPECT_TRUE(reader_.back_up(folder_.path("copy")).has_value());
  EXPECT_EQ(left(folder_.path("")), 0);
  EXPECT_EQ(left(folder_.path("state")), 3) << "those are the next start's";
  journal_ = must_open(folder_.path("another"));
  const Journal again = must_open(folder_.path("state"));
  EXPECT_EQ(left(folder_.path("state")), 0);
}

TEST_F(JournalBackup, LeavesPartialFilesOfOthersAlone) {
  const std::string others[] = {folder_.path("download.partial"), folder_.path("report.tmp7"),
                                folder_.path("copy2.partial")};
  for (const std::string& path : others) std::ofstream(path) << "half";
  EXPECT_TRUE(reader_.back_up(folder_.path("copy")).has_value());
  for (const std::string& path : others) EXPECT_TRUE(fs::exists(path)) << path;
}

// Files may not grow beyond a size that leaves no room for the next commit; as root and as anybody.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(Journal, LosesNothingOnAFullDiskAndGoesOnWhenThereIsRoom) {
  const TestFolder folder;
  const std::string big(300'000, 'x');
  const auto submit = [](Journal& journal, std::int64_t number, const std::string& body) {
    JobRow job;
    job.number = number;
    job.body = body;
    journal.begin();
    journal.put(EventRow{number, 0, "submit", body});
    journal.put(job);
    return journal.commit();
  };
  {
    Journal journal = must_open(folder.path());
    ASSERT_TRUE(submit(journal, 1, "small"));
    {
      const SmallDisk full(200'000);
      for (std::int64_t number : {2, 3}) {
        const auto done = submit(journal, number, big);
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().message, "journal.db: the disk is full");
      }
      ASSERT_TRUE(submit(journal, 4, "small"));  // There is room for it.
    }
    ASSERT_TRUE(submit(journal, 5, big));
  }
  Journal journal = must_open(folder.path());
  std::vector<std::int64_t> jobs;
  for (const JobRow& job : must_load(journal).jobs) jobs.push_back(job.number);
  EXPECT_EQ(jobs, (std::vector<std::int64_t>{1, 4, 5}));
}

TEST(Journal, SaysThatAFullDiskHoldsNoNewJournal) {
  const TestFolder folder;
  fs::create_directory(folder.path());
  {
    const SmallDisk full(0);
    const auto journal = Journal::open(folder.path());
    ASSERT_FALSE(journal.has_value());
    EXPECT_EQ(journal.error().trouble, Journal::Trouble::kUnusable);
    EXPECT_EQ(journal.error().message, "journal.db: the disk is full");
  }
  EXPECT_TRUE(Journal::open(folder.path()).has_value());
}

}  // namespace
}  // namespace smartmig
