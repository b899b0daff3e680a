// The driver of a simulated fleet: talks to the process that serves its state folder. Any number of
// threads may call; each call has a connection to itself, so one that hangs holds up nobody else.
//
// A connection that breaks gives kUnreachable, and the next call tries anew. The claim goes on over
// a restart of the fleet's process unless another controller has claimed it since.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/driver.h"
#include "drivers/simulated/fleet_change.h"
#include "drivers/simulated/fleet_connection.h"

namespace smartmig {

class SimulatedDriver : public Driver {
 public:
  explicit SimulatedDriver(std::string state) : state_(std::move(state)) {}
  // close(), and waits for the calls it ended.
  ~SimulatedDriver() override;
  SimulatedDriver(const SimulatedDriver&) = delete;
  SimulatedDriver& operator=(const SimulatedDriver&) = delete;

  DriverResult<FleetDescription> claim(const std::string& owner) override;
  DriverResult<GpuReading> read(GpuIndex gpu) override;
  DriverResult<std::vector<GpuReading>> read_all(GpuIndex count) override;
  DriverResult<std::string> create(GpuIndex gpu, int slot, TimeUs at_us) override;
  DriverResult<void> destroy(GpuIndex gpu, const std::string& uuid, TimeUs at_us) override;
  DriverResult<void> start(GpuIndex gpu, const RunOrder& order, TimeUs at_us) override;
  DriverResult<void> stop(GpuIndex gpu, const std::string& run, TimeUs at_us) override;
  DriverResult<void> kill(GpuIndex gpu, const std::string& run, TimeUs at_us) override;
  DriverResult<std::vector<FleetEvent>> events_after(std::uint64_t number, int wait_ms) override;
  void close() override;

  // The fleet as it is, without a claim.
  DriverResult<FleetDescription> describe();
  // Any request of the protocol, as fields of a JSON object: for faults, and for looking.
  DriverResult<nlohmann::json> call(std::string_view fields);

 private:
  DriverResult<std::unique_ptr<FleetConnection>> take_connection();
  void give_back(std::unique_ptr<FleetConnection> connection);
  DriverResult<nlohmann::json> call_on(FleetConnection& connection, std::string_view fields);
  DriverResult<void> keep_claim();
  DriverResult<void> order(const FleetChange& change, std::string* slice = nullptr);

  const std::string state_;
  std::mutex claim_mutex_;  // Taken before mutex_ where both are.
  std::unique_ptr<FleetConnection> claim_;
  std::string owner_;

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<FleetConnection>> idle_;
  std::set<FleetConnection*> in_use_;
  std::uint64_t epoch_ = 0;
  bool closing_ = false;
};

}  // namespace smartmig
