#include "drivers/simulated/state_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file.h"

namespace smartmig {
namespace {

constexpr std::size_t kPrefix = 9;  // Checksum and blank.

// Of a text behind those whose checksum is `before`; 0: it is the first.
std::uint32_t checksum(std::uint32_t before, std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

void write_line(std::uint32_t sum, std::string_view text, std::string& out) {
  out = fmt::format("{:08x} ", sum);
  out += text;
  out += '\n';
}

// The checksum that a line without its end carries.
std::optional<std::uint32_t> told_checksum(std::string_view line) {
  if (line.size() < kPrefix || line[kPrefix - 1] != ' ') return std::nullopt;
  std::uint32_t told = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + kPrefix - 1, told, 16);
  if (error != std::errc() || end != line.data() + kPrefix - 1) return std::nullopt;
  return told;
}

// False where not all was written; errno says why.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

StateLog::StateLog(StateLog&& other) noexcept { *this = std::move(other); }

StateLog& StateLog::operator=(StateLog&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(first_size_, other.first_size_);
  std::swap(chain_, other.chain_);
  std::swap(chained_, other.chained_);
  std::swap(records_, other.records_);
  return *this;
}

StateLog::~StateLog() {
  if (file_ >= 0) ::close(file_);
}

Result<StateLog> StateLog::open(const std::string& path) {
  StateLog log(path);
  log.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log.file_ < 0) return fail("{}: {}", path, std::strerror(errno));
  auto bytes = read_file(path);
  if (!bytes) return pass_on(bytes);
  std::size_t at = 0;
  bool chained = true;
  while (at < bytes->size()) {
    const std::size_t end = bytes->find('\n', at);
    if (end == std::string::npos) break;  // Torn: a whole record ends its line.
    const std::string_view line = std::string_view(*bytes).substr(at, end - at);
    const auto told = told_checksum(line);
    const std::string_view text = told ? line.substr(kPrefix) : line;
    // The first line is the same in both forms, the second tells them apart.
    if (log.records_.size() == 1 && told == checksum(0, text)) chained = false;
    if (!told || *told != checksum(chained ? log.chain_ : 0, text)) {
      return fail(
          "{}:{}: the record is damaged, or one before it is missing; to start with an empty "
          "fleet, "
          "use another --state, or move this file and the controller's journal.db* away",
          path, log.records_.size() + 1);
    }
    log.chain_ = *told;
    log.records_.emplace_back(text);
    at = end + 1;
    if (log.records_.size() == 1) log.first_size_ = at;
  }
  if (at < bytes->size() && ::ftruncate(log.file_, static_cast<off_t>(at)) != 0)
    return fail("{}: {}", path, std::strerror(errno));
  log.size_ = at;
  // An old file is continued by the chain only after a restart().
  log.chained_ = chained;
  return log;
}

Result<void> StateLog::append(std::string_view text) {
  const std::uint32_t sum = checksum(chained_ ? chain_ : 0, text);
  write_line(sum, text, line_);
  if (!write_all(file_, line_)) {
    const int why = errno;
    // Part of a line must not stand before the next.
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
      return fail("{}: {}", path_, std::strerror(errno));
    return fail("{}: {}", path_, std::strerror(why));
  }
  chain_ = sum;
  size_ += line_.size();
  if (first_size_ == 0) first_size_ = size_;
  return {};
}

Result<void> StateLog::restart(std::string_view text) {
  const std::string aside = path_ + ".new";
  const int file = ::open(aside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return fail("{}: {}", aside, std::strerror(errno));
  const std::uint32_t sum = checksum(0, text);
  write_line(sum, text, line_);
  // Durable before it takes the old one's place: a power loss must not leave an empty file there.
  if (!write_all(file, line_) || ::fsync(file) != 0 ||
      ::rename(aside.c_str(), path_.c_str()) != 0) {
    const int why = errno;
    ::close(file);
    ::unlink(aside.c_str());
    return fail("{}: {}", path_, std::strerror(why));
  }
  ::close(file_);
  file_ = file;
  size_ = first_size_ = line_.size();
  chain_ = sum;
  chained_ = true;
  line_.clear();
  line_.shrink_to_fit();
  return {};
}

}  // namespace smartmig
