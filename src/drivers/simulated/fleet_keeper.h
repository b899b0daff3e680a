// Keeps the process of a simulated fleet running while a controller uses it: one that has ended,
// however that came about, is restarted with the state it had. The pause before that doubles
// while the process keeps ending soon after its start. The process outlives this object.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "drivers/simulated/fleet_socket.h"

namespace smartmig {

class FleetKeeper {
 public:
  struct Options {
    std::string state;  // Folder of the fleet.
    // As for start_simulated_fleet(). They name no --fleet: where the state is gone no other fleet
    // is to take its place under a controller that knows the old one.
    std::vector<std::string> arguments;
    std::function<void(const std::string&)> log;  // One line without its end; from another thread.
    std::chrono::milliseconds first_pause{200};
    std::chrono::milliseconds most_pause{30'000};
    std::chrono::milliseconds steady{60'000};  // One that lived this long did not end soon.
  };
  explicit FleetKeeper(Options options);
  ~FleetKeeper();  // The fleet continues to run.
  FleetKeeper(const FleetKeeper&) = delete;
  FleetKeeper& operator=(const FleetKeeper&) = delete;

 private:
  void keep();
  void wait_for_its_end();
  bool is_told_to_end(std::chrono::milliseconds within);
  void reap();

  const Options options_;
  Descriptor stop_;               // Readable when this object goes.
  std::vector<pid_t> processes_;  // That were started and are not known to be gone.
  std::thread thread_;
};

}  // namespace smartmig
