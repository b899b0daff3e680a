// The files of a state folder: journal.db, what SQLite keeps beside it, and the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace smartmig {

inline constexpr const char* kJournalName = "journal.db";
inline constexpr const char* kLockName = "lock";

std::string journal_path(const std::string& dir);
std::string log_path(const std::string& journal);  // Of a journal, whatever its name.

// Makes the folder for its owner alone; one that is there stays as it is.
Result<void> make_state_folder(const std::string& dir);
// An empty file for its owner alone, durable; one that is there loses what rights others have.
Result<void> make_private_file(const std::string& path);
// What was made, renamed or deleted in a folder survives a power loss from here on.
Result<void> sync_folder(const std::string& dir);

// Files that are open and must stay where they are: one that is removed or replaced keeps taking
// writes that no reader will ever find.
class FilesInPlace {
 public:
  void watch(const std::string& path);  // The file that is there now.
  bool is_in_place(const std::string& path) const;
  // One line about the first that is not; an error where there is one.
  Result<void> check() const;

 private:
  struct Known {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  static bool is_there(const Known& file);
  std::vector<Known> files_;
};

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
