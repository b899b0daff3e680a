// The process that is a simulated fleet: it serves one state folder until SIGTERM or SIGINT, and
// outlives the controllers that use it (docs/operations/simulated-fleet.md).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "drivers/simulated/behaviour_plan.h"

namespace smartmig {

struct FleetProcessOptions {
  std::string state;  // Folder; made where there is none.
  std::string fleet;  // "8xA100-40GB"; may be empty where the folder has one.
  // Seconds of the fleet for each of the host; none: what the folder has, else 1.
  std::optional<double> speed;
  BehaviourShares shares;
};

// Serves until it is told to end; its state is then written. For the main thread of a process of
// its own: it takes SIGTERM and SIGINT. Errors: the folder cannot be used, another process serves
// it, its state is damaged or of another fleet.
Result<void> run_simulated_fleet(const FleetProcessOptions& options);

// Runs this program anew with these arguments (the verb and its options), which must come to
// run_simulated_fleet for that folder, as a session of its own with its output in
// STATE/fleet.log, and returns its process id when it answers. Where one serves the folder already,
// that one's.
Result<pid_t> start_simulated_fleet(const std::string& state,
                                    const std::vector<std::string>& arguments);
// The process that serves the folder, if one does.
std::optional<pid_t> simulated_fleet_process(const std::string& state);
// Tells the process that serves the folder to end, and returns when it has; at once where there is
// none.
Result<void> stop_simulated_fleet(const std::string& state);

}  // namespace smartmig
