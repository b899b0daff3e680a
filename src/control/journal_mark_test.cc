#include "control/journal_mark.h"

#include <gtest/gtest.h>

#include <fstream>

#include "control/journal_files.h"
#include "control/journal_sqlite.h"
#include "control/journal_test_rows.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;
using StandingKind = Journal::Standing::Kind;

std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class JournalMarks : public testing::Test {
 protected:
  JournalMarks() { fs::create_directory(dir_); }
  // One transaction, with a job of that number.
  static Result<void> commit_job(Journal& journal, std::int64_t number) {
    JobRow job;
    job.number = number;
    journal.begin();
    journal.put(job);
    journal.put(EventRow{number, 0, "submit", "{}"});
    return journal.commit();
  }
  JournalMark mark() const { return *JournalMark::open(dir_); }
  std::string at(const std::string& name) const { return dir_ + "/" + name; }

  const TestFolder folder_{true};
  const std::string dir_ = folder_.path();
};

TEST_F(JournalMarks, CountsTransactionsAndJobsBeforeTheyAreAnswered) {
  Journal journal = must_open(dir_);
  EXPECT_EQ(journal.standing().kind, StandingKind::kTrusted);
  EXPECT_EQ(mark().value(), (MarkValue{0, 1}));
  for (std::int64_t number = 1; number <= 5; ++number) {
    ASSERT_TRUE(commit_job(journal, number));
    EXPECT_EQ(mark().value(), (MarkValue{number, number + 1}));
  }
  // One that changes nothing is none.
  journal.begin();
  ASSERT_TRUE(journal.commit());
  EXPECT_EQ(mark().value(), (MarkValue{5, 6}));
}

TEST_F(JournalMarks, ATornSlotLeavesTheOneBeforeAndTwoAreDamage) {
  JournalMark written = mark();
  EXPECT_EQ(written.found(), JournalMark::Found::kAbsent);
  for (std::int64_t i = 1; i <= 4; ++i) ASSERT_TRUE(written.write({i, 10 * i}));
  const std::string whole = file_bytes(at(kMarkName));
  ASSERT_EQ(mark().value(), (MarkValue{4, 40}));
  for (const std::size_t slot : {0, 1}) {
    std::string torn = whole;
    torn[slot * 4096 + 20] ^= 1;
    put_file(at(kMarkName), torn);
    EXPECT_EQ(mark().found(), JournalMark::Found::kWhole);
    EXPECT_GE(mark().value().commits, 3);
  }
  for (const std::string& bytes : {std::string(), std::string(8192, 'x'), whole.substr(0, 10)}) {
    put_file(at(kMarkName), bytes);
    EXPECT_EQ(mark().found(), JournalMark::Found::kDamaged) << bytes.size();
  }
}

TEST_F(JournalMarks, TellAJournalThatWentBackFromOneThatIsWhole) {
  std::string older, older_mark;
  {
    Journal journal = must_open(dir_);
    ASSERT_TRUE(commit_job(journal, 1));
  }
  older = file_bytes(at("journal.db"));
  older_mark = file_bytes(at(kMarkName));
  {
    Journal journal = must_open(dir_);
    EXPECT_EQ(journal.standing().kind, StandingKind::kTrusted);
    for (std::int64_t number = 2; number <= 4; ++number) ASSERT_TRUE(commit_job(journal, number));
  }
  const std::string newer = file_bytes(at("journal.db"));
  const std::string newer_mark = file_bytes(at(kMarkName));
  const auto kind_of = [&](const std::string& journal, const std::string* the_mark) {
    for (const char* ending : {"-wal", "-shm"}) fs::remove(at("journal.db") + ending);
    put_file(at("journal.db"), journal);
    fs::remove(at(kMarkName));
    if (the_mark) put_file(at(kMarkName), *the_mark);
    return must_open(dir_).standing();
  };
  const std::string damaged(8192, 'x');
  EXPECT_EQ(kind_of(newer, &newer_mark).kind, StandingKind::kTrusted);
  EXPECT_EQ(kind_of(newer, &older_mark).kind, StandingKind::kTrusted) << "after a power loss";
  EXPECT_EQ(kind_of(newer, nullptr).kind, StandingKind::kWentBack);
  EXPECT_EQ(kind_of(newer, &damaged).kind, StandingKind::kWentBack);
  const auto back = kind_of(older, &newer_mark);
  EXPECT_EQ(back.kind, StandingKind::kWentBack);
  EXPECT_EQ(back.next_job, 5);
  EXPECT_EQ(back.why, "the journal went back: it ends at transaction 1, and 4 were committed");
  EXPECT_EQ(kind_of("", &newer_mark).kind, StandingKind::kGone);
  EXPECT_EQ(kind_of("", nullptr).kind, StandingKind::kTrusted) << "a folder without a journal";
}

TEST_F(JournalMarks, OnesThatGoOnAfterDoubtCountOnFromTheMark) {
  {
    Journal journal = must_open(dir_);
    for (std::int64_t number = 1; number <= 4; ++number) ASSERT_TRUE(commit_job(journal, number));
  }
  fs::remove(at("journal.db"));
  {
    Journal journal = must_open(dir_);
    EXPECT_EQ(journal.standing().kind, StandingKind::kGone);
  }
  EXPECT_EQ(must_open(dir_).standing().kind, StandingKind::kGone) << "nothing was committed since";
  {
    Journal journal = must_open(dir_);
    ASSERT_TRUE(commit_job(journal, 9));
  }
  EXPECT_EQ(must_open(dir_).standing().kind, StandingKind::kTrusted);
  EXPECT_EQ(mark().value(), (MarkValue{5, 10}));
}

// A folder of a program that kept no mark.
TEST_F(JournalMarks, AreBegunWhereThereWasNone) {
  {
    Journal journal = must_open(dir_);
    ASSERT_TRUE(commit_job(journal, 1));
  }
  {
    Database db;
    ASSERT_EQ(open_database(at("journal.db"), SQLITE_OPEN_READWRITE, db), SQLITE_OK);
    ASSERT_EQ(execute(db.get(), "DELETE FROM settings WHERE name = 'journal.commits'"), SQLITE_OK);
  }
  fs::remove(at(kMarkName));
  Journal journal = must_open(dir_);
  EXPECT_EQ(journal.standing().kind, StandingKind::kTrusted);
  ASSERT_TRUE(commit_job(journal, 2));
  EXPECT_EQ(mark().value(), (MarkValue{1, 3}));
}

TEST_F(JournalMarks, NothingIsAnsweredOnceAFileWasRemovedOrReplaced) {
  for (const char* name :
       {"journal.db", "journal.db-wal", "journal.db-shm", "journal.mark", "lock"}) {
    for (const bool replaced : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name, replaced ? "replaced" : "removed"));
      const std::string dir = folder_.path(fmt::format("{}-{:d}", name, replaced));
      const std::string path = dir + "/" + name;
      std::optional<Journal> journal = must_open(dir);
      ASSERT_TRUE(commit_job(*journal, 1));
      EXPECT_TRUE(journal->check_files());
      fs::rename(path, path + ".moved");
      if (replaced) put_file(path, file_bytes(path + ".moved"));
      EXPECT_FALSE(journal->check_files());
      for (int i = 0; i < 2; ++i) {
        const auto done = commit_job(*journal, 2);
        ASSERT_FALSE(done.has_value());
        EXPECT_NE(done.error().message.find(name), std::string::npos) << done.error().message;
      }
      // Put back in time, nothing is lost.
      fs::rename(path + ".moved", path);
      EXPECT_TRUE(journal->check_files());
      EXPECT_TRUE(commit_job(*journal, 2));
      journal.reset();
      Journal again = must_open(dir);
      EXPECT_EQ(again.standing().kind, StandingKind::kTrusted);
      EXPECT_EQ(again.load()->next_job, 3);
    }
  }
}

TEST_F(JournalMarks, ALogThatWasRemovedUnderTheControllerLosesNothingThatWasAnswered) {
  {
    Journal journal = must_open(dir_);
    for (std::int64_t number = 1; number <= 3; ++number) ASSERT_TRUE(commit_job(journal, number));
    fs::remove(at("journal.db-wal"));
    EXPECT_FALSE(commit_job(journal, 4));
  }
  Journal journal = must_open(dir_);
  EXPECT_EQ(journal.standing().kind, StandingKind::kTrusted);
  EXPECT_EQ(journal.load()->next_job, 4);
}

TEST_F(JournalMarks, ALogThatWasCutUnderTheControllerIsNoticed) {
  {
    Journal journal = must_open(dir_);
    for (std::int64_t number = 1; number <= 3; ++number) ASSERT_TRUE(commit_job(journal, number));
    fs::resize_file(at("journal.db-wal"), 5000);
    EXPECT_FALSE(journal.check_files());
    EXPECT_FALSE(commit_job(journal, 4));
  }
  EXPECT_NE(must_open(dir_).standing().kind, StandingKind::kTrusted);
}

}  // namespace
}  // namespace smartmig
