#include "control/journal_backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "control/journal_files.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// Every page as of now. The copy needs no log beside it: it may lie on a medium that cannot be
// written.
int copy_pages(sqlite3* from, const std::string& path, std::string& trouble) {
  Database to;
  int code = open_database(path, SQLITE_OPEN_READWRITE, to);
  if (code == SQLITE_OK) {
    sqlite3_backup* backup = sqlite3_backup_init(to.get(), "main", from, "main");
    if (backup) sqlite3_backup_step(backup, -1);
    code = backup ? sqlite3_backup_finish(backup) : sqlite3_errcode(to.get());
  }
  if (code == SQLITE_OK) code = execute(to.get(), "PRAGMA journal_mode = DELETE");
  if (code != SQLITE_OK) trouble = sqlite_trouble(to.get(), code);
  return code;
}

Result<void> sync_and_rename(const std::string& aside, const std::string& path) {
  const int fd = ::open(aside.c_str(), O_RDONLY | O_CLOEXEC);
  const bool good = fd >= 0 && ::fsync(fd) == 0 && ::rename(aside.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!good) return fail("{}: cannot be written: {}", path, std::strerror(error));
  return sync_folder(fs::path(path).parent_path().string());
}

}  // namespace

Result<void> copy_journal(sqlite3* from, const std::string& path) {
  std::error_code error;
  if (fs::equivalent(path, sqlite3_db_filename(from, "main"), error)) {
    return fail("{}: is the journal itself, expected another file", path);
  }
  const std::string aside = fmt::format("{}.tmp{}", path, ::getpid());
  fs::remove(aside, error);
  const auto made = make_private_file(aside);
  if (!made) return made;
  std::string trouble;
  Result<void> done;
  if (copy_pages(from, aside, trouble) == SQLITE_OK) {
    done = sync_and_rename(aside, path);
  } else {
    done = fail("{}: {}", path, trouble);
  }
  if (!done) fs::remove(aside, error);
  return done;
}

}  // namespace smartmig
