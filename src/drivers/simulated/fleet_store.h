// A simulated fleet with its state file and its clock: whatever is done to it is written first, so
// that a process killed at any moment comes back with the same slices, runs, events and energy.
//
// The clock is the host's monotonic one times a speed, and goes on while no process serves the
// fleet, as hardware does. After a restart of the host it goes on from the last time written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/driver.h"
#include "drivers/simulated/simulated_fleet.h"
#include "drivers/simulated/state_log.h"

namespace smartmig {

class FleetStore {
 public:
  // `fleet` is for a folder without a fleet; where there is one it must be the same, or empty.
  // Without a speed it keeps its own, which is 1 for a new one.
  static Result<FleetStore> open(const std::string& path, const std::string& fleet,
                                 std::optional<double> speed, std::int64_t now_ns);

  const SimulatedFleet& machine() const { return machine_; }
  const FleetClock& clock() const { return clock_; }
  // The time of the host's clock at which the fleet's shows `fleet_us`, or just after.
  std::int64_t ns_of(TimeUs fleet_us) const;

  void advance(std::int64_t now_ns) { machine_.advance_to(clock_.at(now_ns)); }
  // Writes the change, then does it, as of the last advance().
  DriverResult<SimulatedFleet::Done> apply(const FleetChange& change);
  void forget_events(std::uint64_t up_to) { machine_.forget_events(up_to); }
  // Rewrites the file; what changed until now is one record afterwards.
  Result<void> compact();

 private:
  FleetStore(StateLog log, SimulatedFleet machine)
      : log_(std::move(log)), machine_(std::move(machine)) {}
  StateLog log_;
  SimulatedFleet machine_;
  FleetClock clock_;
  std::string record_;  // Scratch.
};

}  // namespace smartmig
