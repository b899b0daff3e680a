// The files of a state folder: journal.db, what SQLite keeps beside it, and the lock.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace smartmig {

inline constexpr const char* kJournalName = "journal.db";

std::string journal_path(const std::string& dir);
std::string log_path(const std::string& journal);  // Of a journal, whatever its name.

// Makes the folder for its owner alone; one that is there stays as it is.
Result<void> make_state_folder(const std::string& dir);
// An empty file for its owner alone, durable; one that is there loses what rights others have.
Result<void> make_private_file(const std::string& path);
// What was made, renamed or deleted in a folder survives a power loss from here on.
Result<void> sync_folder(const std::string& dir);

// Held by the one program that writes the journal; let go by its end, however it ends.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& dir);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace smartmig
