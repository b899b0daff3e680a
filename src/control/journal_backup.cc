#include "control/journal_backup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

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

// The name of a copy that is being written, which no reader takes for a whole one. The file is
// locked (flock) meanwhile, so that the copy of a backup that was killed can be told from it.
constexpr std::string_view kPartial = ".partial";
// What earlier programs called it, followed by the number of the process.
constexpr std::string_view kOldPartial = ".tmp";

// What the controller and its simulated fleet keep in a state folder. What begins with one of these
// belongs to it as well: "journal.db-wal", "journal.mark.new".
constexpr std::string_view kUsedNames[] = {"journal.db", "journal.mark", "lock",  "damaged-",
                                           "fleet",      "tokens",       "config"};

bool is_used_name(const fs::path& relative) {
  const std::string first = relative.begin()->string();
  return std::any_of(std::begin(kUsedNames), std::end(kUsedNames),
                     [&](std::string_view name) { return first.starts_with(name); });
}

bool is_sqlite_file(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kMagic.size(), '\0');
  return in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) && bytes == kMagic;
}

// The path of a file without links and dots, whether it is there or not.
fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
  return (error ? whole.parent_path() : folder) / whole.filename();
}

// Where in `folder` a place is; empty: elsewhere.
fs::path inside(const fs::path& place, const fs::path& folder) {
  const fs::path relative = place.lexically_relative(folder);
  const bool is_inside = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return is_inside ? relative : fs::path();
}

// The file of a state folder that `path` is another name of; empty: none.
std::string same_as_in(const fs::path& folder, const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const fs::path name = entry.path().lexically_relative(folder);
    std::error_code ignored;
    if (is_used_name(name) && fs::equivalent(entry.path(), path, ignored)) return name.string();
  }
  return "";
}

bool is_at(const std::string& path, int fd) {
  struct stat open_file {
  }, named{};
  return ::fstat(fd, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

class PartialCopy {
 public:
  ~PartialCopy() {
    if (fd_ < 0) return;
    if (!renamed_) ::unlink(path_.c_str());
    ::close(fd_);
  }
  PartialCopy() = default;
  PartialCopy(const PartialCopy&) = delete;
  PartialCopy& operator=(const PartialCopy&) = delete;

  // An empty file beside `target`, locked.
  Result<void> begin(const std::string& target) {
    path_ = target + std::string(kPartial);
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail("{}: cannot be made: {}", path_, std::strerror(errno));
    // Another backup may have finished between the two calls: then this file is its copy.
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_at(path_, fd)) {
      ::close(fd);
      return fail("{}: another backup is writing it", path_);
    }
    fd_ = fd;
    ::unlink((path_ + "-journal").c_str());
    if (::fchmod(fd, 0600) != 0 || ::ftruncate(fd, 0) != 0)
      return fail("{}: cannot be written: {}", path_, std::strerror(errno));
    return {};
  }
  Result<void> sync_and_rename(const std::string& target) {
    if (::fsync(fd_) != 0 || ::rename(path_.c_str(), target.c_str()) != 0)
      return fail("{}: cannot be written: {}", target, std::strerror(errno));
    renamed_ = true;
    return sync_folder(fs::path(target).parent_path().string());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  bool renamed_ = false;
};

bool is_abandoned(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  const bool unlocked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  ::close(fd);
  return unlocked;
}

// "NAME.partial", "NAME.tmp123", and SQLite's journal beside each, of the copy `of`; empty: of any.
bool is_partial_name(std::string_view name, std::string_view of) {
  constexpr std::string_view kBeside = "-journal";
  if (name.ends_with(kBeside)) name.remove_suffix(kBeside.size());
  std::size_t at = name.size();
  if (name.ends_with(kPartial)) {
    at -= kPartial.size();
  } else {
    at = name.rfind(kOldPartial);
    const std::size_t digits = at + kOldPartial.size();
    if (at == std::string_view::npos || digits >= name.size() ||
        name.find_first_not_of("0123456789", digits) != std::string_view::npos)
      return false;
  }
  return of.empty() || name.substr(0, at) == of;
}

void remove_partials(const std::string& dir, const std::string& of) {
  std::error_code error;
  std::vector<fs::path> abandoned;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored) && is_partial_name(entry.path().filename().string(), of) &&
        is_abandoned(entry.path().string()))
      abandoned.push_back(entry.path());
  }
  for (const fs::path& path : abandoned) fs::remove(path, error);
}

}  // namespace

Result<void> check_backup_target(const std::string& journal, const std::string& path) {
  std::error_code error;
  const fs::path place = place_of(path);
  const fs::path folder = place_of(journal).parent_path();
  const std::string name = place.filename().string();
  if (name.empty() || fs::is_directory(place, error))
    return fail("{}: is a folder, expected the name of a file", path);
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    if (name.ends_with(ending))
      return fail("{}: is the name of a file that SQLite keeps beside a journal, expected another",
                  path);
  }
  if (fs::equivalent(place, journal, error) || place == place_of(journal))
    return fail("{}: is the journal itself, expected another file", path);
  if (fs::exists(place.string() + "-wal", error))
    return fail(
        "{}: is a journal with a log beside it, perhaps of a running controller; expected "
        "another file",
        path);
  const fs::path where = inside(place, folder);
  if (!where.empty() && is_used_name(where))
    return fail("{}: is a name that the state folder uses, expected another file", path);
  if (!where.empty() && fs::exists(place, error) && !is_sqlite_file(place.string()))
    return fail("{}: is a file of the state folder and no copy of a journal, expected another file",
                path);
  if (const std::string same = same_as_in(folder, path); !same.empty())
    return fail("{}: is the same file as {} of the state folder, expected another file", path,
                same);
  return {};
}

Result<void> copy_journal(sqlite3* from, const std::string& path) {
  if (auto may = check_backup_target(sqlite3_db_filename(from, "main"), path); !may) return may;
  const fs::path folder = fs::path(path).parent_path();
  // The folder is not ours: what other programs keep there under such names stays.
  remove_partials(folder.empty() ? "." : folder.string(), fs::path(path).filename().string());
  PartialCopy copy;
  if (auto begun = copy.begin(path); !begun) return begun;
  std::string trouble;
  if (copy_pages(from, copy.path(), trouble) != SQLITE_OK) return fail("{}: {}", path, trouble);
  return copy.sync_and_rename(path);
}

void remove_partial_backups(const std::string& dir) { remove_partials(dir, ""); }

}  // namespace smartmig
