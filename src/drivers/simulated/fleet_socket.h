// The Unix-domain socket of a fleet's state folder. Its path goes through /proc/self/fd, as a
// socket's may have 107 bytes only and folders are deeper than that.
#pragma once

#include <string>

#include "base/result.h"

namespace smartmig {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_ = -1;
};

inline constexpr const char* kSocketName = "fleet.sock";

// Listens in the folder, for this user alone (mode 0600); does not block.
Result<Descriptor> listen_in(const std::string& dir);
// Blocks while it sends and receives.
Result<Descriptor> connect_to(const std::string& dir);

}  // namespace smartmig
