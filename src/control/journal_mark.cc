#include "control/journal_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "control/journal_files.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// Slots lie in pages of their own: a torn write of one leaves the other alone.
constexpr std::size_t kSlotBytes = 4096;
constexpr std::size_t kLineBytes = 128;
constexpr std::string_view kTitle = "smartmig-mark 1";

std::uint64_t mark_checksum(const MarkValue& value) {
  Hash64 hash;
  hash.add(kTitle);
  hash.add(value.commits);
  hash.add(value.next_job);
  return hash.value();
}

// "smartmig-mark 1 COMMITS NEXT_JOB CHECKSUM", padded with blanks to one length.
std::string mark_line(const MarkValue& value) {
  std::string line =
      fmt::format("{} {} {} {:016x}", kTitle, value.commits, value.next_job, mark_checksum(value));
  line.resize(kLineBytes - 1, ' ');
  return line + '\n';
}

std::optional<MarkValue> read_mark_line(std::string_view line) {
  const auto words = split(trim(line), ' ');
  if (words.size() != 5) return std::nullopt;
  const auto commits = parse_integer(words[2]);
  const auto next_job = parse_integer(words[3]);
  if (!commits || !next_job) return std::nullopt;
  const MarkValue value{*commits, *next_job};
  return line == mark_line(value) ? std::optional(value) : std::nullopt;
}

std::string mark_trouble(int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return fmt::format(
      "{}: {}", kMarkName,
      full ? "the disk is full" : fmt::format("cannot be written: {}", std::strerror(error)));
}

bool write_at(int fd, std::string_view bytes, std::size_t at) {
  const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
  if (written >= 0 && written != static_cast<ssize_t>(bytes.size())) errno = ENOSPC;
  return written == static_cast<ssize_t>(bytes.size());
}

}  // namespace

std::string mark_path(const std::string& dir) { return (fs::path(dir) / kMarkName).string(); }

Result<JournalMark> JournalMark::open(const std::string& dir) {
  JournalMark mark(mark_path(dir));
  mark.fd_ = ::open(mark.path_.c_str(), O_RDWR | O_CLOEXEC);
  if (mark.fd_ < 0) {
    if (errno == ENOENT) return mark;
    return fail("{}: cannot be opened: {}", mark.path_, std::strerror(errno));
  }
  mark.found_ = Found::kDamaged;
  for (int slot = 0; slot < 2; ++slot) {
    std::array<char, kLineBytes> line{};
    const auto at = static_cast<off_t>(slot * kSlotBytes);
    if (::pread(mark.fd_, line.data(), line.size(), at) != static_cast<ssize_t>(line.size()))
      continue;
    const auto value = read_mark_line({line.data(), line.size()});
    if (!value || (mark.found_ == Found::kWhole && value->commits < mark.value_.commits)) continue;
    mark.found_ = Found::kWhole;
    mark.value_ = *value;
    mark.newer_slot_ = slot;
  }
  return mark;
}

JournalMark::JournalMark(JournalMark&& other) noexcept { *this = std::move(other); }

JournalMark& JournalMark::operator=(JournalMark&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(found_, other.found_);
  std::swap(value_, other.value_);
  std::swap(newer_slot_, other.newer_slot_);
  std::swap(needs_sync_, other.needs_sync_);
  return *this;
}

JournalMark::~JournalMark() {
  if (fd_ < 0) return;
  if (needs_sync_) ::fdatasync(fd_);
  ::close(fd_);
}

// Written aside and renamed, so that no reader finds half a mark.
Result<void> JournalMark::make(const MarkValue& value) {
  const std::string aside = path_ + ".new";
  const int fd = ::open(aside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}", mark_trouble(errno));
  // Both slots whole, so that later writes need no more room.
  std::string slot = mark_line(value);
  slot.resize(kSlotBytes - 1, ' ');
  slot += '\n';
  if (!write_at(fd, slot, 0) || !write_at(fd, slot, kSlotBytes) || ::fsync(fd) != 0 ||
      ::rename(aside.c_str(), path_.c_str()) != 0) {
    const int why = errno;
    ::close(fd);
    ::unlink(aside.c_str());
    return fail("{}", mark_trouble(why));
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  found_ = Found::kWhole;
  value_ = value;
  newer_slot_ = 0;
  return sync_folder(fs::path(path_).parent_path().string());
}

Result<void> JournalMark::write(const MarkValue& value) {
  if (found_ != Found::kWhole) return make(value);
  const int slot = 1 - newer_slot_;
  if (!write_at(fd_, mark_line(value), static_cast<std::size_t>(slot) * kSlotBytes))
    return fail("{}", mark_trouble(errno));
  newer_slot_ = slot;
  value_ = value;
  needs_sync_ = true;
  return {};
}

Result<void> JournalMark::sync() {
  if (!needs_sync_) return {};
  if (::fdatasync(fd_) != 0) return fail("{}", mark_trouble(errno));
  needs_sync_ = false;
  return {};
}

}  // namespace smartmig
