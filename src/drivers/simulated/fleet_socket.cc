#include "drivers/simulated/fleet_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smartmig {
namespace {

constexpr int kBacklog = 128;

struct Address {
  Descriptor folder;  // The path goes through it.
  sockaddr_un value{};
};

Result<Address> address_in(const std::string& dir) {
  Address address;
  address.folder = Descriptor(::open(dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!address.folder) return fail("{}: {}", dir, std::strerror(errno));
  address.value.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), kSocketName);
  SM_CHECK(path.size() < sizeof(address.value.sun_path));
  std::memcpy(address.value.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  if (number_ >= 0) ::close(number_);
  number_ = other.release();
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<Descriptor> listen_in(const std::string& dir) {
  auto address = address_in(dir);
  if (!address) return pass_on(address);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // The lock is ours, so a socket that is there is nobody's.
  ::unlinkat(address->folder.get(), kSocketName, 0);
  const auto* to = reinterpret_cast<const sockaddr*>(&address->value);
  if (!socket || ::bind(socket.get(), to, sizeof(address->value)) != 0 ||
      ::chmod(address->value.sun_path, 0600) != 0 || ::listen(socket.get(), kBacklog) != 0)
    return fail("{}/{}: {}", dir, kSocketName, std::strerror(errno));
  return socket;
}

Result<Descriptor> connect_to(const std::string& dir) {
  auto address = address_in(dir);
  if (!address) return pass_on(address);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* to = reinterpret_cast<const sockaddr*>(&address->value);
  if (!socket || ::connect(socket.get(), to, sizeof(address->value)) != 0)
    return fail("{}/{}: {}", dir, kSocketName, std::strerror(errno));
  return socket;
}

}  // namespace smartmig
