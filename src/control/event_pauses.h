// How long the controller waits between two calls for the fleet's events while they fail. The pause
// doubles with every failure. A call that is refused at once costs nothing, so it is repeated soon:
// with the second that a call may wait for an event, events are received again within 2 s of the
// fleet's being back. A call that hangs holds a thread, so that pause grows to a minute.
#pragma once

#include <algorithm>
#include <chrono>

namespace smartmig {

class EventPauses {
 public:
  static constexpr std::chrono::nanoseconds kFirst = std::chrono::milliseconds(200);
  static constexpr std::chrono::nanoseconds kMostAfterRefusal = std::chrono::seconds(1);
  static constexpr std::chrono::nanoseconds kMostAfterHang = std::chrono::seconds(60);

  std::chrono::nanoseconds after_failure(bool hung) {
    const auto pause = std::min(next_, hung ? kMostAfterHang : kMostAfterRefusal);
    next_ = 2 * pause;
    return pause;
  }
  void answered() { next_ = kFirst; }

 private:
  std::chrono::nanoseconds next_ = kFirst;
};

}  // namespace smartmig
