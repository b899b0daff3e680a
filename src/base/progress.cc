#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace smartmig {

using Clock = std::chrono::steady_clock;

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      start_(Clock::now()),
      shown_(start_),
      terminal_(isatty(2) == 1) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::step() {
  const std::size_t done = ++done_;
  if (!terminal_) return;
  const auto now = Clock::now();
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || now - start_ < std::chrono::seconds(2) ||
      now - shown_ < std::chrono::milliseconds(200))
    return;
  shown_ = now;
  drawn_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = elapsed * static_cast<double>(total_ - done) / static_cast<double>(done);
  fmt::print(stderr, "\r\033[K{}: {} of {}, about {:.0f} s left", what_, done, total_, left);
  std::fflush(stderr);
}

}  // namespace smartmig
