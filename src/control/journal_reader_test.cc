#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "control/journal_test_rows.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

JournalReader must_read(const std::string& path) {
  auto reader = JournalReader::open_file(path);
  if (!reader) ADD_FAILURE() << reader.error().message;
  return std::move(reader.value());
}

TEST(JournalReader, AgreesWithAModelOverRandomPutsAndReopenings) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TestFolder folder;
    Random random(seed, "puts");
    JournalModel model;
    std::optional<Journal> journal = must_open(folder.path());
    for (int round = 0; round < 60; ++round) {
      if (random.below(8) == 0) {
        journal.reset();
        journal = must_open(folder.path());
      }
      BothJournals both(*journal, model);
      journal->begin();
      put_at_random(random, both, 40, 5000);
      ASSERT_TRUE(journal->commit().has_value()) << "seed " << seed;
      if (round % 10 != 0) continue;
      JournalReader reader = must_read(folder.path("state/journal.db"));
      ASSERT_TRUE(everything_in(*journal, reader) == model) << "seed " << seed;
      ASSERT_TRUE(reader.verify().has_value());
    }
  }
}

// One job of each phase and key, and a few of everything that is listed.
class JournalReaderLists : public testing::Test {
 protected:
  JournalReaderLists() : journal_(must_open(folder_.path())) {
    journal_.begin();
    for (std::int64_t number = 1; number <= 14; ++number) {
      JobRow job;
      job.number = number;
      job.owner = number % 2 == 0 ? "alice" : "bob";
      job.key = number <= 2 ? "same" : "";
      job.phase = static_cast<JobPhase>((number - 1) % 7);
      journal_.put(job);
      IntentRow intent;
      intent.number = number;
      intent.gpu = number % 2 == 0 ? "GPU-0" : "GPU-1";
      journal_.put(intent);
      journal_.put(DecisionRow{number, number, "{}", "because"});
      journal_.put(AuditRow{number, number, 0, "alice", "froze"});
    }
    EXPECT_TRUE(journal_.commit().has_value());
  }

  template <class Rows>
  static std::vector<std::int64_t> numbers(const Rows& rows) {
    std::vector<std::int64_t> found;
    for (const auto& row : rows.value()) found.push_back(row.number);
    return found;
  }

  const TestFolder folder_;
  Journal journal_;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(JournalReaderLists, FindsJobsByNumberKeyAndPhase) {
  JournalReader reader = must_read(folder_.path("state/journal.db"));
  EXPECT_EQ(reader.job(9)->value().owner, "bob");
  EXPECT_FALSE(reader.job(15)->has_value());
  EXPECT_EQ(reader.job_by_key("alice", "same")->value().number, 2);
  EXPECT_EQ(reader.job_by_key("bob", "same")->value().number, 1);
  EXPECT_FALSE(reader.job_by_key("carol", "same")->has_value());
  EXPECT_FALSE(reader.job_by_key("bob", "")->has_value());
  EXPECT_EQ(numbers(reader.jobs(std::nullopt, 0, 3)), (Numbers{1, 2, 3}));
  EXPECT_EQ(numbers(reader.jobs(std::nullopt, 12, 3)), (Numbers{13, 14}));
  EXPECT_EQ(numbers(reader.jobs(JobPhase::kDone, 0, 9)), (Numbers{5, 12}));
  EXPECT_EQ(numbers(reader.jobs(JobPhase::kDone, 5, 9)), (Numbers{12}));
  EXPECT_EQ(numbers(reader.jobs(JobPhase::kDone, 0, 1)), (Numbers{5}));
}

TEST_F(JournalReaderLists, ListsTheNewestFirst) {
  JournalReader reader = must_read(folder_.path("state/journal.db"));
  EXPECT_EQ(numbers(reader.decisions(0, 2)), (Numbers{14, 13}));
  EXPECT_EQ(numbers(reader.decisions(3, 9)), (Numbers{2, 1}));
  EXPECT_EQ(reader.decision(3)->value().reason, "because");
  EXPECT_FALSE(reader.decision(99)->has_value());
  EXPECT_EQ(numbers(reader.intents("GPU-0", 0, 2)), (Numbers{14, 12}));
  EXPECT_EQ(numbers(reader.intents("GPU-1", 4, 9)), (Numbers{3, 1}));
  EXPECT_EQ(numbers(reader.intents("", 3, 9)), (Numbers{2, 1}));
  EXPECT_EQ(numbers(reader.audit(0, 1)), (Numbers{14}));
  EXPECT_TRUE(numbers(reader.audit(1, 1)).empty());
}

TEST_F(JournalReaderLists, WalksEventsOverManyPagesAndStopsWhenTold) {
  journal_.begin();
  for (std::int64_t number = 1; number <= 2500; ++number) {
    if (number != 1500) journal_.put(EventRow{number, 0, "tick", "{}"});
  }
  ASSERT_TRUE(journal_.commit().has_value());
  JournalReader reader = must_read(folder_.path("state/journal.db"));
  std::int64_t count = 0;
  std::int64_t last = 0;
  const auto walk = [&](const EventRow& event) {
    EXPECT_GT(event.number, last);
    last = event.number;
    return ++count != 2200;
  };
  ASSERT_TRUE(reader.each_event(100, walk).has_value());
  EXPECT_EQ(count, 2200);
  EXPECT_EQ(last, 2300);
}

// Each commit moves all jobs to the same new time: a reader that saw half of one would see two
// times.
TEST(JournalReader, SeesWholeCommitsWhileTheWriterWrites) {
  const TestFolder folder;
  Journal journal = must_open(folder.path());
  const auto write = [&journal](TimeUs time) {
    journal.begin();
    for (std::int64_t number = 1; number <= 50; ++number) {
      JobRow job;
      job.number = number;
      job.submit_us = time;
      job.body = std::string(500, 'x');
      journal.put(job);
    }
    journal.put(EventRow{time + 1, time, "tick", std::string(20'000, 'x')});
    EXPECT_TRUE(journal.commit().has_value());
  };
  write(0);
  std::atomic<bool> done = false;
  std::atomic<int> readings = 0;
  const auto read = [&] {
    JournalReader reader = must_read(folder.path("state/journal.db"));
    TimeUs last = 0;
    while (!done) {
      const auto jobs = reader.jobs(std::nullopt, 0, 100);
      ASSERT_TRUE(jobs.has_value()) << jobs.error().message;
      ASSERT_EQ(jobs->size(), 50u);
      for (const JobRow& job : *jobs) ASSERT_EQ(job.submit_us, jobs->front().submit_us);
      ASSERT_GE(jobs->front().submit_us, last);
      last = jobs->front().submit_us;
      ++readings;
    }
  };
  std::thread one(read);
  std::thread other(read);
  TimeUs time = 1;
  // Long enough that the log is begun anew under the readers' eyes.
  for (; time < 400 || readings < 20; ++time) write(time);
  done = true;
  one.join();
  other.join();
  EXPECT_LT(fs::file_size(folder.path("state/journal.db-wal")), 80u << 20);
}

// A copy of both files, taken while the writer lives, is what its death would leave.
TEST_F(JournalReaderLists, SeesTheRowsOfADeadWritersLog) {
  fs::create_directory(folder_.path("dead"));
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    fs::copy_file(folder_.path("state") + "/" + name, folder_.path("dead") + "/" + name);
  }
  ASSERT_GT(fs::file_size(folder_.path("dead/journal.db-wal")), 0u);
  {
    JournalReader reader = must_read(folder_.path("dead/journal.db"));
    EXPECT_EQ(numbers(reader.jobs(std::nullopt, 11, 9)), (Numbers{12, 13, 14}));
    EXPECT_TRUE(reader.verify().has_value());
  }
  EXPECT_GT(fs::file_size(folder_.path("dead/journal.db-wal")), 0u);  // It is not ours to tidy.
  Journal journal = must_open(folder_.path("dead"));
  EXPECT_EQ(journal.load()->next_job, 15);
}

// Root may write anywhere: for a while it is nobody.
class AsAPlainUser {
 public:
  AsAPlainUser() : before_(::geteuid()) { EXPECT_EQ(before_ == 0 ? ::seteuid(65534) : 0, 0); }
  ~AsAPlainUser() { EXPECT_EQ(::seteuid(before_), 0); }
  AsAPlainUser(const AsAPlainUser&) = delete;
  AsAPlainUser& operator=(const AsAPlainUser&) = delete;

 private:
  uid_t before_;
};

void let_read_only(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::permissions(entry.path(), fs::perms(0444));
  }
  fs::permissions(folder, fs::perms(0555));
  fs::permissions(folder.parent_path(), fs::perms(0755));
}

TEST_F(JournalReaderLists, ReadsACopyInAFolderThatCannotBeWritten) {
  fs::create_directory(folder_.path("copy"));
  const std::string odd = folder_.path("copy/50% of #1?.db");
  JournalReader reader = *JournalReader::open(folder_.path());
  ASSERT_TRUE(reader.back_up(folder_.path("copy/journal.db")).has_value());
  ASSERT_TRUE(reader.back_up(odd).has_value());
  // As `cp` of a closed journal leaves it: made for a log, and none there.
  const TestFolder second;
  { must_open(second.path()); }
  fs::copy_file(second.path("state/journal.db"), folder_.path("copy/closed?.db"));
  let_read_only(folder_.path("copy"));
  {
    const AsAPlainUser plain;
    EXPECT_TRUE(must_read(folder_.path("copy/journal.db")).job(14)->has_value());
    EXPECT_TRUE(must_read(odd).verify().has_value());
    EXPECT_TRUE(must_read(folder_.path("copy/closed?.db")).verify().has_value());
    const auto opened = Journal::open(folder_.path("copy"));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().trouble, Journal::Trouble::kUnusable);
    EXPECT_EQ(opened.error().message,
              folder_.path("copy/lock") + ": cannot be made: Permission denied");
  }
  fs::permissions(folder_.path("copy"), fs::perms(0755));
}

TEST_F(JournalReaderLists, DoesNotReadPastALogThatItCannotUse) {
  fs::create_directory(folder_.path("dead"));
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    fs::copy_file(folder_.path("state") + "/" + name, folder_.path("dead") + "/" + name);
  }
  let_read_only(folder_.path("dead"));
  {
    const AsAPlainUser plain;
    const auto reader = JournalReader::open(folder_.path("dead"));
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().message,
              folder_.path("dead/journal.db") +
                  ": cannot be read where it is: its folder cannot be written and its log is not "
                  "empty; copy both files to a folder of your own");
  }
  fs::permissions(folder_.path("dead"), fs::perms(0755));
}

}  // namespace
}  // namespace smartmig
