// An append-only file of records, each a line "CHECKSUM TEXT": the CRC-32, in eight hexadecimal
// digits, of the texts of all lines up to this one, one behind the other. So a line that is missing
// or stands elsewhere is noticed at the next one. A record is written by one write(), so that a
// process killed at any moment leaves whole records and at most one torn at the end, which open()
// drops. Nothing is synced: who loses power loses the simulated machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

class StateLog {
 public:
  // Opens or makes the file. Errors: it cannot be read, or a record is damaged or missing. Files of
  // programs whose checksums covered one line each are read, too; restart() brings them up to date.
  static Result<StateLog> open(const std::string& path);
  StateLog(StateLog&& other) noexcept;
  StateLog& operator=(StateLog&& other) noexcept;
  ~StateLog();

  // What open() found; empty after the first call.
  std::vector<std::string> take_records() { return std::move(records_); }
  Result<void> append(std::string_view text);
  // Replaces everything by this one record: written aside, then renamed over.
  Result<void> restart(std::string_view text);

  std::uint64_t size() const { return size_; }              // Bytes.
  std::uint64_t first_size() const { return first_size_; }  // Of the first record.

 private:
  explicit StateLog(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t first_size_ = 0;
  std::uint32_t chain_ = 0;  // The checksum of the last record.
  bool chained_ = true;      // False: each line's checksum covers that line alone.
  std::vector<std::string> records_;
  std::string line_;  // Scratch.
};

}  // namespace smartmig
