// What tests of live fleets share: a fleet that is a process of its own, a controller in this
// process or in another that can be killed, and what must hold between the journal and the fleet.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "drivers/simulated/simulated_driver.h"

namespace smartmig {

// A folder with a fleet and a state in it; gone with the object, and so is the fleet's process.
class LiveRig {
 public:
  explicit LiveRig(const std::string& name);
  ~LiveRig();
  LiveRig(const LiveRig&) = delete;
  LiveRig& operator=(const LiveRig&) = delete;

  std::string fleet_dir() const { return (dir_ / "fleet").string(); }
  std::string state_dir() const { return (dir_ / "state").string(); }
  // `misbehaving`: the share of runs that fail, and of jobs that overrun.
  void start_fleet(const std::string& fleet, double speed, double misbehaving = 0);
  void kill_fleet();     // -9
  void restart_fleet();  // After a kill, or with its state written.

  ControllerOptions options(const std::string& policy) const;
  Result<std::unique_ptr<Controller>> start_controller(const ControllerOptions& options) const;
  // A line of the fleet's protocol; without a claim.
  nlohmann::json tell_fleet(const std::string& fields);
  std::vector<GpuReading> readings();
  SimulatedDriver& watcher() { return *watcher_; }

 private:
  std::filesystem::path dir_;
  std::vector<std::string> fleet_arguments_;
  pid_t fleet_ = -1;
  std::unique_ptr<SimulatedDriver> watcher_;
};

// Returns as soon as it holds; false where it does not within `most_s` seconds. The default is for
// a machine with several times as much to do as it has cores.
bool wait_until(const std::function<bool()>& what, double most_s = 60);

// body(0) to body(count - 1), `rigs` of them at a time; no more once one has failed.
void run_side_by_side(int count, int rigs, const std::function<void(int)>& body);

JobRequest job_of(double work_s, double deadline_s, const std::string& key = "");

// The first thing in which the controller's picture and the hardware differ, or that no fleet may
// be in; empty: none. What is under way may differ for a moment.
std::string difference(const FleetView& seen, const std::vector<GpuReading>& readings);
// The first thing wrong with what became of runs, by the fleet's own ledger and the journal; empty:
// none.
std::string wrong_runs(LiveRig& rig);
// No change of a layout is under way, as far as the journal knows.
bool every_intent_is_closed(const std::string& state_dir);
// The journal verifies and replays without a difference.
std::string wrong_journal(const std::string& state_dir);

// This program again as a controller, which can be killed.
class ControllerProcess {
 public:
  // `point`, `nth`: where it kills itself, ControllerOptions::at; empty: nowhere. `linger_ms`: for
  // so long its workers go on before that, and nothing they do is heard of.
  ControllerProcess(const LiveRig& rig, const std::string& policy, const std::string& point = "",
                    int nth = 1, int linger_ms = 0);
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  // The answer to one line (live_process.cc has them); nothing where it is dead.
  std::optional<std::string> ask(const std::string& line);
  void kill();  // -9
  bool is_alive();

 private:
  pid_t child_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string read_;
};

// Main of that process.
int serve_lines(const std::vector<std::string>& arguments);

}  // namespace smartmig
