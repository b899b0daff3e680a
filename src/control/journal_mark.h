// The high-water mark of a journal: a small file beside it that says how many transactions were
// committed and which job numbers were given out. A journal that has fewer went back in time: its
// log was lost, or an older copy was put in its place. docs/formats/journal.md describes the file.
//
// Invariants: 1. the mark is written after the transaction it counts is durable, so that no crash
// and no power loss leaves a mark ahead of its journal; 2. it is written before the transaction is
// answered, so that a mark that outlives the process counts everything that was answered; 3. two
// slots are written in turn, so that a torn write leaves the one before.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace smartmig {

inline constexpr const char* kMarkName = "journal.mark";

std::string mark_path(const std::string& dir);

struct MarkValue {
  std::int64_t commits = 0;   // Transactions of this journal so far.
  std::int64_t next_job = 1;  // No lower job number may be given out.

  bool operator==(const MarkValue&) const = default;
};

class JournalMark {
 public:
  enum class Found : std::uint8_t { kAbsent, kWhole, kDamaged };

  // Reads the mark of a state folder; makes nothing.
  static Result<JournalMark> open(const std::string& dir);
  JournalMark(JournalMark&& other) noexcept;
  JournalMark& operator=(JournalMark&& other) noexcept;
  ~JournalMark();

  Found found() const { return found_; }  // By open().
  const MarkValue& value() const { return value_; }
  // Overwrites the older slot, about 2 us; makes the file, durably, where there is none or both
  // slots are damaged.
  Result<void> write(const MarkValue& value);
  // What was written survives a power loss from here on.
  Result<void> sync();
  bool needs_sync() const { return needs_sync_; }

 private:
  explicit JournalMark(std::string path) : path_(std::move(path)) {}
  Result<void> make(const MarkValue& value);
  std::string path_;
  int fd_ = -1;
  Found found_ = Found::kAbsent;
  MarkValue value_;
  int newer_slot_ = 0;
  bool needs_sync_ = false;
};

}  // namespace smartmig
