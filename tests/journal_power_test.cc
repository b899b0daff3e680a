// The journal under power losses: at random writes and syncs its files are cut back to what a disk
// could hold at that instant. They must open, hold everything that was answered, and of the
// transaction under way all or nothing. SMARTMIG_CASES sets the number of losses.
#include <gtest/gtest.h>

#include <fstream>

#include "case_count.h"
#include "control/journal_mark.h"
#include "control/journal_test_disk.h"
#include "control/journal_test_rows.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

class PowerLosses {
 public:
  PowerLosses(std::uint64_t seed, int losses)
      : seed_(seed), losses_(losses), random_(seed, "power") {
    disk_.on_change = [this] { maybe_lose_power(); };
  }

  // One life of a journal: made, written, closed and opened again. Answers how many losses are
  // left.
  int run() {
    // Now and then enough at once that the log is begun anew behind frames of its past.
    const bool large = random_.below(6) == 0;
    // Large commits have many more writes.
    rarity_ = large ? 400 : 15;
    std::optional<Journal> journal = must_open(folder_.path());
    for (int commit = 0; commit < 40 && goes_on(); ++commit) {
      if (random_.below(15) == 0) {
        journal.reset();
        journal = must_open(folder_.path());
      }
      during_ = before_;
      BothJournals both(*journal, during_);
      journal->begin();
      put_at_random(random_, both, 40, large ? 40'000 : 2'000);
      if (large && random_.below(4) == 0) {
        both.put(EventRow{1, 0, "", std::string(3'000'000, static_cast<char>('a' + commit % 26))});
      }
      EXPECT_TRUE(journal->commit().has_value());
      before_ = during_;
      if (random_.below(2) == 0) journal->rest();
    }
    journal.reset();
    return losses_;
  }

 private:
  bool goes_on() const { return losses_ > 0 && !testing::Test::HasFailure(); }

  void maybe_lose_power() {
    if (!goes_on() || random_.below(rarity_) != 0) return;
    --losses_;
    const auto mode = static_cast<PowerLoss>(random_.below(3));
    const std::string dir = folder_.path("after");
    fs::remove_all(dir);
    fs::create_directory(dir);
    for (const auto& [path, bytes] : disk_.after_power_loss(mode, random_)) {
      std::ofstream out(dir / fs::path(path).filename(), std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    leave_mark(dir + "/" + kMarkName);
    check(dir,
          fmt::format("seed {}, {} losses left, mode {}", seed_, losses_, static_cast<int>(mode)));
  }

  // The mark is not synced with each transaction: it may be older, and the slot that was written
  // last torn.
  void leave_mark(const std::string& path) {
    std::ifstream in(folder_.path() + "/" + kMarkName, std::ios::binary);
    std::string mark(std::istreambuf_iterator<char>(in), {});
    if (mark.empty()) return;
    if (random_.below(3) == 0) {
      const std::size_t slot = mark.size() / 2 * random_.below(2);
      mark.replace(slot + random_.below(60), 8, 8, '\0');
    }
    if (random_.below(3) == 0 && !older_mark_.empty()) {
      std::swap(mark, older_mark_);
    } else {
      older_mark_ = mark;
    }
    std::ofstream(path, std::ios::binary) << mark;
  }

  void check(const std::string& dir, const std::string& where) {
    auto journal = Journal::open(dir);
    ASSERT_TRUE(journal.has_value()) << where << ": " << journal.error().message;
    EXPECT_EQ(journal->standing().kind, Journal::Standing::Kind::kTrusted)
        << where << ": " << journal->standing().why;
    auto reader = JournalReader::open(dir);
    ASSERT_TRUE(reader.has_value()) << where << ": " << reader.error().message;
    const JournalModel found = everything_in(*journal, *reader);
    ASSERT_TRUE(found == before_ || found == during_) << where;
    // It goes on from there.
    journal->begin();
    journal->set_setting("after", "power");
    ASSERT_TRUE(journal->commit().has_value()) << where;
  }

  const std::uint64_t seed_;
  int losses_;
  std::uint64_t rarity_ = 1;  // One of so many changes is a power loss.
  Random random_;
  const TestFolder folder_{true};
  TestDisk disk_;
  std::string older_mark_;
  JournalModel before_;  // What was answered.
  JournalModel during_;  // With the transaction under way.
};

TEST(JournalPower, LosesNothingThatWasAnswered) {
  int left = case_count(500);
  for (std::uint64_t seed = 1; left > 0 && !HasFailure(); ++seed) {
    left = PowerLosses(seed, left).run();
  }
}

// The disk fills up at every write of a transaction in turn.
TEST(JournalPower, WritesNothingByHalvesOnADiskThatFillsUp) {
  int refused = 0;
  for (int writes = 0;; ++writes) {
    const TestFolder folder(true);
    TestDisk disk;
    JournalModel model;
    std::optional<Journal> journal = must_open(folder.path());
    Random random(5, "full");
    for (int commit = 0; commit < 3; ++commit) {
      BothJournals both(*journal, model);
      journal->begin();
      put_at_random(random, both, 10, 20'000);
      ASSERT_TRUE(journal->commit().has_value());
    }
    JournalModel after = model;
    disk.writes_left = writes;
    BothJournals both(*journal, after);
    journal->begin();
    put_at_random(random, both, 10, 20'000);
    const auto done = journal->commit();
    const bool enough = disk.writes_left > 0;
    if (done) {
      model = after;
    } else {
      EXPECT_EQ(done.error().message, "journal.db: the disk is full");
      ++refused;
    }
    disk.writes_left = -1;
    BothJournals again(*journal, model);
    journal->begin();
    again.put(random_event(random, 99));
    ASSERT_TRUE(journal->commit().has_value()) << writes;
    journal.reset();
    journal = must_open(folder.path());
    auto reader = JournalReader::open(folder.path());
    ASSERT_TRUE(reader.has_value());
    ASSERT_TRUE(everything_in(*journal, *reader) == model) << writes;
    if (enough) break;
  }
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace smartmig
