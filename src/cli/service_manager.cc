#include "cli/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace smartmig {
namespace {

std::string taken_from_environment(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value != nullptr ? value : "";
  unsetenv(name);
  return text;
}

// A socket that is connected to `path`; -1 where that cannot be. '@' begins an abstract name.
int connect_to_manager(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return -1;
  if (path[0] != '/' && path[0] != '@') return -1;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), size) == 0) return made;
  close(made);
  return -1;
}

// A status is one line.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  const std::string path = taken_from_environment("NOTIFY_SOCKET");
  const std::string pause_us = taken_from_environment("WATCHDOG_USEC");
  const std::string process = taken_from_environment("WATCHDOG_PID");
  ServiceManager manager;
  if (path.empty()) return manager;
  manager.socket_ = connect_to_manager(path);
  const auto us = parse_integer(pause_us);
  if (us && *us > 0 && (process.empty() || parse_integer(process) == getpid()))
    manager.watchdog_ = std::chrono::microseconds(*us);
  return manager;
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) close(socket_);
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      watchdog_(other.watchdog_),
      status_(std::move(other.status_)) {}

std::optional<std::chrono::microseconds> ServiceManager::watchdog_pause() const {
  if (!present() || watchdog_.count() == 0) return std::nullopt;
  return watchdog_ / 2;
}

void ServiceManager::ready(const std::string& status) {
  status_ = one_line(status);
  send(fmt::format("READY=1\nSTATUS={}\nMAINPID={}", status_, getpid()));
}

void ServiceManager::report(bool alive, const std::string& status) {
  std::string text;
  if (const std::string line = one_line(status); line != status_) {
    status_ = line;
    text = "STATUS=" + line;
  }
  if (alive && watchdog_pause()) text += text.empty() ? "WATCHDOG=1" : "\nWATCHDOG=1";
  if (!text.empty()) send(text);
}

void ServiceManager::stopping(const std::string& status) {
  send("STOPPING=1\nSTATUS=" + one_line(status));
}

void ServiceManager::send(const std::string& text) {
  // A manager that does not read is no reason to wait.
  if (present()) (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace smartmig
