#include "server/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smartmig {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

Result<void> check_owner_and_mode(const struct stat& info, const std::string& path,
                                  ReadableBy readable_by) {
  const bool for_group = readable_by == ReadableBy::kGroup;
  if (info.st_uid != geteuid() && !(for_group && info.st_uid == 0))
    return fail("{}: belongs to another user, expected the one that runs smartmig", path);
  const unsigned mode = info.st_mode & 07777;
  if (!for_group && mode != 0600)
    return fail("{}: has mode {:04o}, expected 0600 (chmod 600 {})", path, mode, path);
  if (for_group && (mode & 07137) != 0)
    return fail("{}: has mode {:04o}, expected 0640 or less (chmod 640 {})", path, mode, path);
  return {};
}

// The file is looked at through the descriptor it is read by: it cannot be another one meanwhile.
Result<std::string> read_descriptor(int file, const std::string& path, ReadableBy readable_by) {
  struct stat info {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return fail("{}: is not a plain file", path);
  if (auto good = check_owner_and_mode(info, path, readable_by); !good) return pass_on(good);
  if (info.st_size > static_cast<off_t>(kMaxFileBytes)) return fail("{}: is over 1 MiB", path);
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<std::string> read_private_file(const std::string& path, ReadableBy readable_by) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fail("{}: cannot be read: {}", path, std::strerror(errno));
  auto text = read_descriptor(file, path, readable_by);
  close(file);
  return text;
}

}  // namespace smartmig
