#include "control/journal_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "control/journal.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAsideName = "damaged-";

// Who has the lock, for the message.
std::string holder(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  if (size <= 0) return "another program";
  const auto number = parse_integer(trim({text.data(), static_cast<std::size_t>(size)}));
  return number ? fmt::format("process {}", *number) : "another program";
}

}  // namespace

std::string journal_path(const std::string& dir) { return (fs::path(dir) / kJournalName).string(); }

std::string log_path(const std::string& journal) { return journal + "-wal"; }

Result<void> make_state_folder(const std::string& dir) {
  const fs::path path = fs::path(dir).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (!error && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) return fail("{}: cannot be made: {}", dir, error.message());
  if (!fs::is_directory(folder, error)) return fail("{}: is not a folder", dir);
  return {};
}

Result<void> make_private_file(const std::string& path) {
  // Not opened where it is there: closing it again would drop SQLite's locks on it.
  if (::chmod(path.c_str(), 0600) == 0) return {};
  if (errno != ENOENT) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}: cannot be made: {}", path, std::strerror(errno));
  ::close(fd);
  return sync_folder(fs::path(path).parent_path().string());
}

Result<void> sync_folder(const std::string& dir) {
  const char* name = dir.empty() ? "." : dir.c_str();
  const int fd = ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = fd >= 0 && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!good) return fail("{}: cannot be synced: {}", name, std::strerror(error));
  return {};
}

void FilesInPlace::watch(const std::string& path) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  files_.push_back({path, there ? info.st_dev : 0, there ? info.st_ino : 0});
}

bool FilesInPlace::is_there(const Known& file) {
  struct stat info {};
  return ::stat(file.path.c_str(), &info) == 0 && info.st_dev == file.device &&
         info.st_ino == file.inode;
}

bool FilesInPlace::is_in_place(const std::string& path) const {
  for (const Known& file : files_) {
    if (file.path == path) return is_there(file);
  }
  return false;
}

Result<void> FilesInPlace::check() const {
  for (const Known& file : files_) {
    if (!is_there(file))
      return fail(
          "{}: was removed or replaced while the controller runs: stop the controller, put "
          "the file back or restore a backup, and start it again",
          file.path);
  }
  return {};
}

Result<FolderLock> FolderLock::take(const std::string& dir) {
  const std::string path = (fs::path(dir) / kLockName).string();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}: cannot be made: {}", path, std::strerror(errno));
  FolderLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail("{}: cannot be locked: {}", path, std::strerror(errno));
    return fail("{}: is in use by {}: two controllers cannot share a state folder", dir,
                holder(fd));
  }
  // For people, and for the message above: that it cannot be written is no reason to fail.
  const std::string text = fmt::format("{}\n", ::getpid());
  [[maybe_unused]] const bool told =
      ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) > 0;
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ < 0) return;
  // A process that another thread is just spawning has a copy of the descriptor until it runs its
  // own program: closing ours would not give the lock back before that.
  ::flock(fd_, LOCK_UN);
  ::close(fd_);
}

std::string Journal::last_set_aside(const std::string& dir) {
  std::string last;
  std::error_code error;
  for (int number = 1;; ++number) {
    const fs::path folder = fs::path(dir) / fmt::format("{}{}", kAsideName, number);
    if (!fs::is_directory(folder, error)) return last;
    last = folder.string();
  }
}

Result<std::string> Journal::set_aside(const std::string& dir) {
  const auto lock = FolderLock::take(dir);
  if (!lock) return pass_on(lock);
  fs::path target;
  for (int number = 1; target.empty(); ++number) {
    const fs::path candidate = fs::path(dir) / fmt::format("{}{}", kAsideName, number);
    if (::mkdir(candidate.c_str(), 0700) == 0) {
      target = candidate;
    } else if (errno != EEXIST) {
      return fail("{}: cannot be made: {}", candidate.string(), std::strerror(errno));
    }
  }
  // The journal first: a log without its journal is noticed by open(), a journal without its log is
  // not.
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    const std::string name = std::string(kJournalName) + ending;
    std::error_code error;
    fs::rename(fs::path(dir) / name, target / name, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail("{}: cannot be moved to {}: {}", (fs::path(dir) / name).string(), target.string(),
                  error.message());
    }
  }
  for (const std::string& folder : {target.string(), dir}) {
    if (const auto synced = sync_folder(folder); !synced) return pass_on(synced);
  }
  return target.string();
}

}  // namespace smartmig
