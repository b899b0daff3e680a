#include <gtest/gtest.h>

#include <fstream>

#include "control/journal_rows.h"
#include "control/journal_schema.h"
#include "control/journal_test_disk.h"
#include "control/journal_test_rows.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;
using Trouble = Journal::Trouble;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void flip(std::string& bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
}

// The journal and its log as they lie on the disk while a writer is alive: as a crash leaves them.
struct Image {
  std::string journal;
  std::string log;

  static Image of(const std::string& dir) {
    return {bytes_of(dir + "/journal.db"), bytes_of(dir + "/journal.db-wal")};
  }
  void lay_out(const std::string& dir) const {
    fs::remove_all(dir);
    fs::create_directory(dir);
    write(dir + "/journal.db", journal);
    if (!log.empty()) write(dir + "/journal.db-wal", log);
  }
};

// Runs SQL on a journal that nobody has open, as no program of ours would.
void tamper(const std::string& dir, const char* sql) {
  Database db;
  ASSERT_EQ(open_database(dir + "/journal.db", SQLITE_OPEN_READWRITE, db), SQLITE_OK);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  ASSERT_EQ(execute(db.get(), sql), SQLITE_OK) << sqlite3_errmsg(db.get());
}

class JournalDamage : public testing::Test {
 protected:
  // A journal with every kind of row, closed.
  void SetUp() override {
    Random random(1, "damage");
    Journal journal = must_open(folder_.path());
    BothJournals both(journal, model_);
    journal.begin();
    for (int i = 0; i < 80; ++i) put_at_random(random, both, 60, 200);
    both.put(random_slice(random, 3));
    JobRow job = random_job(random, 17);
    both.put(job);
    ASSERT_TRUE(journal.commit().has_value());
  }

  void expect(Trouble trouble, const std::string& message) const {
    const auto journal = Journal::open(folder_.path());
    ASSERT_FALSE(journal.has_value());
    EXPECT_EQ(journal.error().trouble, trouble) << journal.error().message;
    EXPECT_EQ(journal.error().message, message);
  }

  const TestFolder folder_{true};
  JournalModel model_;
};

TEST_F(JournalDamage, NamesTheRowThatWasChanged) {
  tamper(folder_.path(), "UPDATE jobs SET deadline_us = deadline_us + 1 WHERE number = 17");
  expect(Trouble::kDamaged, "journal.db: jobs, row 17: is damaged, its checksum does not match");
  auto reader = JournalReader::open(folder_.path());
  ASSERT_TRUE(reader.has_value());
  const std::string line =
      folder_.path("state/journal.db: jobs, row 17: is damaged, its checksum does not match");
  EXPECT_EQ(reader->job(17).error().message, line);
  EXPECT_EQ(reader->jobs(std::nullopt, 16, 1).error().message, line);
  EXPECT_EQ(reader->verify().error().message, line);
}

TEST_F(JournalDamage, NoticesARowUnderAnotherKey) {
  tamper(folder_.path(), "UPDATE slices SET uuid = 'MIG-other' WHERE uuid = 'MIG-3'");
  expect(Trouble::kDamaged,
         "journal.db: slices, row 'MIG-other': is damaged, its checksum does not match");
}

TEST_F(JournalDamage, NoticesTablesThatAreNotOurs) {
  tamper(folder_.path(), "DROP INDEX jobs_end");
  expect(Trouble::kDamaged, "journal.db: sqlite_schema: found 12 tables and indexes, expected 13");
  tamper(folder_.path(), "CREATE INDEX jobs_end ON jobs (end_us)");
  expect(Trouble::kDamaged, "journal.db: sqlite_schema, 'jobs_end': is not as smartmig makes it");
}

TEST_F(JournalDamage, RefusesANewerSchemaAndLeavesItAlone) {
  {
    Database db;
    ASSERT_EQ(open_database(folder_.path("state/journal.db"), SQLITE_OPEN_READWRITE, db),
              SQLITE_OK);
    ASSERT_EQ(put_schema(db.get(), 2), SQLITE_OK);
    ASSERT_EQ(execute(db.get(), "ALTER TABLE jobs ADD COLUMN colour TEXT"), SQLITE_OK);
  }
  const std::string before = bytes_of(folder_.path("state/journal.db"));
  expect(Trouble::kNewer,
         "journal.db was written by a newer smartmig (schema 2, this program knows 1): use that "
         "program, or restore a backup");
  EXPECT_TRUE(bytes_of(folder_.path("state/journal.db")) == before);
  EXPECT_EQ(JournalReader::open(folder_.path()).error().message,
            folder_.path("state/journal.db") + ": has schema 2, this program reads 1");
}

TEST_F(JournalDamage, RefusesASchemaThatNoMigrationStartsFrom) {
  {
    Database db;
    ASSERT_EQ(open_database(folder_.path("state/journal.db"), SQLITE_OPEN_READWRITE, db),
              SQLITE_OK);
    ASSERT_EQ(put_schema(db.get(), 0), SQLITE_OK);
  }
  expect(Trouble::kUnusable,
         "journal.db: schema 0 is older than this program can bring up to date");
}

TEST_F(JournalDamage, MigratesStepByStepOrNotAtAll) {
  Database db;
  ASSERT_EQ(open_database(folder_.path("state/journal.db"), SQLITE_OPEN_READWRITE, db), SQLITE_OK);
  const auto colour = [](sqlite3* on) {
    return execute(on, "ALTER TABLE audit ADD COLUMN colour TEXT");
  };
  const auto paint = [](sqlite3* on) { return execute(on, "UPDATE audit SET colour = 'red'"); };
  const auto fails = [](sqlite3* on) { return execute(on, "UPDATE audit SET weight = 1"); };
  const Migration bad[] = {{1, colour}, {2, fails}};
  EXPECT_EQ(migrate(db.get(), bad, 1, 3).error().message,
            "cannot be brought from schema 1 to 3: no such column: weight");
  EXPECT_EQ(schema_of(db.get()), 1);
  EXPECT_EQ(paint(db.get()), SQLITE_ERROR);  // The first step was undone too.
  const Migration good[] = {{2, paint}, {1, colour}};
  EXPECT_FALSE(migrate(db.get(), good, 1, 4).has_value());
  EXPECT_EQ(schema_of(db.get()), 1);
  EXPECT_TRUE(migrate(db.get(), good, 1, 3).has_value());
  EXPECT_EQ(schema_of(db.get()), 3);
  EXPECT_EQ(paint(db.get()), SQLITE_OK);
}

TEST_F(JournalDamage, RefusesWhatIsNoJournal) {
  write(folder_.path("state/journal.db"), std::string(5000, 'x'));
  expect(Trouble::kDamaged, "journal.db: is not a database, or its first page is damaged");
  fs::remove(folder_.path("state/journal.db"));
  fs::create_directory(folder_.path("state/journal.db"));
  expect(Trouble::kUnusable, "journal.db: cannot be opened: Is a directory");
  write(folder_.path("file"), "x");
  EXPECT_EQ(Journal::open(folder_.path("file")).error().message,
            folder_.path("file") + ": is not a folder");
  EXPECT_EQ(JournalReader::open(folder_.path("absent")).error().message,
            folder_.path("absent/journal.db") + ": no such journal");
  write(folder_.path("empty"), "");
  EXPECT_EQ(JournalReader::open_file(folder_.path("empty")).error().message,
            folder_.path("empty") + ": holds no journal");
}

TEST_F(JournalDamage, SetsADamagedJournalAsideAndStartsAnew) {
  tamper(folder_.path(), "UPDATE jobs SET left = 2 WHERE number = 17");
  write(folder_.path("state/journal.db-wal"), "");
  const std::string before = bytes_of(folder_.path("state/journal.db"));
  EXPECT_EQ(Journal::set_aside(folder_.path()), folder_.path("state/damaged-1"));
  EXPECT_TRUE(bytes_of(folder_.path("state/damaged-1/journal.db")) == before);
  EXPECT_TRUE(fs::exists(folder_.path("state/damaged-1/journal.db-wal")));
  EXPECT_TRUE(Journal::open(folder_.path()).has_value());
  EXPECT_EQ(Journal::set_aside(folder_.path()), folder_.path("state/damaged-2"));
}

TEST_F(JournalDamage, MissesAJournalWhoseLogIsThere) {
  fs::remove(folder_.path("state/journal.db"));
  write(folder_.path("state/journal.db-wal"), std::string(5000, 'x'));
  expect(Trouble::kDamaged, "journal.db: is missing, but its log journal.db-wal is there");
}

// Either the damage is seen or it did none: unused bytes have no meaning.
TEST_F(JournalDamage, NeverTakesAFlippedBitForGood) {
  const Image whole = Image::of(folder_.path());
  ASSERT_TRUE(whole.log.empty());
  Random random(3, "flips");
  int seen = 0;
  const TestDisk disk;  // Which does not take its time to sync.
  constexpr int kFlips = 2000;
  for (int i = 0; i < kFlips; ++i) {
    Image image = whole;
    // Headers of the file and of its first pages more often than their share.
    const std::uint64_t span = i % 5 == 0 ? 512 * 8 : image.journal.size() * 8;
    const std::uint64_t bit = random.below(span);
    flip(image.journal, bit);
    image.lay_out(folder_.path());
    auto journal = Journal::open(folder_.path());
    if (!journal) {
      EXPECT_NE(journal.error().trouble, Trouble::kNewer) << bit;
      EXPECT_FALSE(journal.error().message.empty()) << bit;
      EXPECT_EQ(journal.error().message.find('\n'), std::string::npos) << bit;
      ++seen;
      // Whoever reads it all the same gets no wrong row.
      if (auto reader = JournalReader::open(folder_.path())) {
        const auto job = reader->job(17);
        EXPECT_TRUE(!job || !*job || **job == model_.jobs[17]) << bit;
        const auto events = reader->each_event(0, [&](const EventRow& event) {
          EXPECT_EQ(event, model_.events[event.number]) << bit;
          return true;
        });
      }
      continue;
    }
    auto reader = JournalReader::open(folder_.path());
    ASSERT_TRUE(reader.has_value()) << bit;
    ASSERT_TRUE(everything_in(*journal, *reader) == model_) << bit;
  }
  EXPECT_GT(seen, kFlips / 4);
}

// Damage to the last two transactions of a log looks like a power loss before their fsync
// (journal_log.h); anything before is seen.
TEST_F(JournalDamage, SeesAFlippedBitInTheLog) {
  constexpr int kCommits = 12;
  Image whole;
  {
    Journal journal = must_open(folder_.path());
    for (std::int64_t i = 1; i <= kCommits; ++i) {
      journal.begin();
      journal.put(EventRow{1000 + i, 0, "submit", std::string(3000, 'x')});
      journal.set_setting("commit", std::to_string(i));
      ASSERT_TRUE(journal.commit().has_value());
    }
    whole = Image::of(folder_.path());
  }
  ASSERT_GT(whole.log.size(), 12u * 4096);
  Random random(4, "flips");
  int seen = 0;
  const TestDisk disk;  // Which does not take its time to sync.
  constexpr int kFlips = 1000;
  for (int i = 0; i < kFlips; ++i) {
    Image image = whole;
    const std::uint64_t bit = random.below(i % 10 == 0 ? 32 * 8 : image.log.size() * 8);
    flip(image.log, bit);
    image.lay_out(folder_.path());
    auto journal = Journal::open(folder_.path());
    if (!journal) {
      EXPECT_EQ(journal.error().trouble, Trouble::kDamaged) << bit;
      ++seen;
      continue;
    }
    const std::string last = journal->setting("commit");
    ASSERT_GE(std::stoi(last), kCommits - 2) << bit;
    ASSERT_EQ(journal->load()->next_event, 1001 + std::stoi(last)) << bit;
  }
  EXPECT_GT(seen, kFlips / 2);
}

TEST_F(JournalDamage, TakesATornEndOfTheLogForAPowerLoss) {
  Image whole;
  {
    Journal journal = must_open(folder_.path());
    for (int i = 1; i <= 5; ++i) {
      journal.begin();
      journal.set_setting("commit", std::to_string(i));
      ASSERT_TRUE(journal.commit().has_value());
    }
    whole = Image::of(folder_.path());
  }
  int last = 5;
  for (std::size_t size = whole.log.size(); size > 0; size -= std::min<std::size_t>(size, 500)) {
    Image image = whole;
    image.log.resize(size);
    image.lay_out(folder_.path());
    auto journal = Journal::open(folder_.path());
    ASSERT_TRUE(journal.has_value()) << size << ": " << journal.error().message;
    const std::string text = journal->setting("commit");
    const int found = text.empty() ? 0 : std::stoi(text);
    EXPECT_LE(found, last);
    EXPECT_GE(found, last - 1);
    last = found;
  }
  EXPECT_EQ(last, 0);
}

}  // namespace
}  // namespace smartmig
