#include "drivers/simulated/fleet_keeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>

#include "drivers/simulated/fleet_process.h"

namespace smartmig {

using std::chrono::milliseconds;

FleetKeeper::FleetKeeper(Options options)
    : options_(std::move(options)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { keep(); });
}

FleetKeeper::~FleetKeeper() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

bool FleetKeeper::is_told_to_end(milliseconds within) {
  pollfd file{.fd = stop_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&file, 1, static_cast<int>(within.count())) != 0;
}

// By a connection that says nothing: it breaks when the process ends.
void FleetKeeper::wait_for_its_end() {
  const auto connection = connect_to(options_.state);
  if (!connection) return;
  pollfd files[] = {{.fd = connection->get(), .events = POLLIN | POLLRDHUP, .revents = 0},
                    {.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while (::poll(files, 2, -1) < 0) {
  }
}

// Those that were children of ours.
void FleetKeeper::reap() {
  std::erase_if(processes_,
                [](pid_t process) { return ::waitpid(process, nullptr, WNOHANG) != 0; });
}

void FleetKeeper::keep() {
  milliseconds pause = options_.first_pause;
  bool ended = false;  // And is not running again.
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    const auto process = start_simulated_fleet(options_.state, options_.arguments);
    if (!process) {
      options_.log(process.error().message);
    } else {
      if (ended) options_.log(fmt::format("the simulated fleet runs again, process {}", *process));
      ended = false;
      processes_.push_back(*process);
      wait_for_its_end();
      if (std::chrono::steady_clock::now() - begin >= options_.steady) pause = options_.first_pause;
    }
    if (is_told_to_end(milliseconds(0))) return;
    if (!ended) options_.log("the process of the simulated fleet has ended; it is restarted");
    ended = true;
    if (is_told_to_end(pause)) return;
    reap();
    pause = std::min(2 * pause, options_.most_pause);
  }
}

}  // namespace smartmig
