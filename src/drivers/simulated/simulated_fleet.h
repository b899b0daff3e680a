// The simulated machine: GPUs whose slices take time to make, are known by UUID and run what they
// are told to run, whoever watches. No input or output, and time is a number passed in; the
// process around it (fleet_process.h) has the clock, the socket and the state file.
//
// Everything that happens follows from the changes applied and the times at which they were: doing
// the same again gives the same UUIDs, events and joules, however often advance_to() was called in
// between.
//
// Orders say when their cause happened. They take effect then, if that is within 250 ms of the
// host's clock and not before the last thing that happened to the slice (or, for a create or a
// destroy, before the last operation of the GPU ended); else as early as those two allow. What has
// been told in an event stays: nothing happens before the last event's time.
//
// Invariants: 1. the slots present on a GPU are a legal set; 2. a slice has at most one process;
// 3. events are numbered from 1 without a gap and their times never fall; 4. a name runs once.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "control/driver.h"
#include "drivers/simulated/board_meter.h"
#include "drivers/simulated/fleet_change.h"
#include "drivers/simulated/run_ledger.h"
#include "fleet/fleet.h"

namespace smartmig {

class SimulatedFleet {
 public:
  // How far back an order may take effect, on the host's clock.
  static constexpr TimeUs kGraceUs = 250'000;

  struct Done {
    std::string uuid;  // Of a created slice.
    TimeUs at_us = 0;  // When it took, or will take, effect; may be after now().
  };

  SimulatedFleet(Fleet fleet, std::string id);

  // Lets everything happen that is due by then. A time before now() is taken as now().
  void advance_to(TimeUs now);
  TimeUs now() const { return now_; }
  // When something happens next by itself; kNever where nothing will.
  TimeUs next_due() const { return due_.empty() ? kNever : std::get<0>(*due_.begin()); }

  // Does it, at now(); an error has changed nothing.
  DriverResult<Done> apply(const FleetChange& change);

  const Fleet& fleet() const { return fleet_; }
  const std::string& id() const { return id_; }
  std::string gpu_uuid(GpuIndex gpu) const;
  double speed() const { return speed_; }
  std::uint64_t epoch() const { return epoch_; }  // Counts claims.
  DriverResult<GpuReading> read(GpuIndex gpu) const;
  bool has_slice(GpuIndex gpu, std::string_view uuid) const;
  // Those not forgotten yet, by number.
  const std::deque<FleetEvent>& events() const { return events_; }
  std::uint64_t last_event() const { return last_event_; }
  void forget_events(std::uint64_t up_to);
  const RunLedger& ledger() const { return ledger_; }

  void save(std::string& out) const;  // Everything, as one JSON object.
  static Result<SimulatedFleet> load(const nlohmann::json& saved);

 private:
  struct Run {
    std::string name;         // Empty: a process of somebody else.
    TimeUs start_us = 0;      // Its process is there from here on.
    TimeUs begin_us = 0;      // Progress starts, after a restore.
    TimeUs end_us = kNever;   // Of its work, or of its save.
    TimeUs fail_us = kNever;  // It fails, unless it stopped before.
    TimeUs obey_us = kNever;  // It begins to save, having been told before.
    TimeUs due_us = kNever;   // In due_.
    TimeUs checkpoint_us = 0;
    double left = 1;        // Of its job's work, at its start.
    double saved_left = 1;  // What the save under way keeps.
    double watts = 0;
    RunPhase phase = RunPhase::kRunning;
    TimeUs ignore_stop_us = 0;
    bool ignore_kill = false;
  };
  struct Slice {
    std::string uuid;
    std::uint8_t slot = 0;
    TimeUs since_us = 0;  // When the slice was made or its last process ended.
    std::unique_ptr<Run> run;
  };
  struct Operation {
    enum class Kind : std::uint8_t { kIdle, kCreate, kDestroy };
    Kind kind = Kind::kIdle;
    std::uint8_t slot = 0;
    bool awaited = true;  // Whoever asked for it is still there to hear of it.
    TimeUs end_us = kNever;
    std::string uuid;
  };
  struct Gpu {
    SlotSet present = 0;        // Room taken: by slices, and by an operation under way.
    std::vector<Slice> slices;  // By slot.
    Operation operation;
    TimeUs free_us = 0;  // When the last operation ended.
    bool lost = false;
    BoardMeter meter;
  };
  // Time, GPU, slot; kOperation stands for the GPU's operation.
  using Due = std::tuple<TimeUs, GpuIndex, std::uint8_t>;
  static constexpr std::uint8_t kOperation = 0xff;

  using Answer = DriverResult<Done>;
  Answer create(GpuIndex gpu, int slot, TimeUs at_us);
  Answer destroy(GpuIndex gpu, const std::string& uuid, TimeUs at_us);
  Answer start(GpuIndex gpu, const RunOrder& order, const RunBehaviour& behaviour, TimeUs at_us);
  Answer stop(GpuIndex gpu, const std::string& run, TimeUs at_us);
  Answer kill(GpuIndex gpu, const std::string& run, TimeUs at_us);
  Answer foreign(const FleetChange& change);
  Answer reset(GpuIndex gpu, FleetChange::Kind kind);
  void abandon(GpuIndex gpu);

  TimeUs effective(TimeUs at_us, TimeUs not_before) const;
  TimeUs oldest_effect() const;
  TimeUs operation_time(GpuIndex gpu, int slot, bool create) const;
  std::string next_slice_uuid();
  DriverResult<void> check_gpu(GpuIndex gpu) const;
  Slice* find_slice(GpuIndex gpu, std::string_view uuid);
  Slice* find_run(GpuIndex gpu, std::string_view run);
  Slice& add_slice(GpuIndex gpu, int slot, std::string uuid, TimeUs at_us);
  void remove_slice(GpuIndex gpu, int slot);
  void begin_operation(GpuIndex gpu, const Operation& operation);
  void end_operation(GpuIndex gpu);
  void occupy(GpuIndex gpu, Slice& slice, Run run);
  void vacate(GpuIndex gpu, Slice& slice, TimeUs at_us);
  void begin_save(GpuIndex gpu, Slice& slice, TimeUs at_us);
  void schedule(GpuIndex gpu, Slice& slice);
  void unschedule(GpuIndex gpu, Slice& slice);
  void pass_due_of_run(GpuIndex gpu, std::uint8_t slot, TimeUs at_us);
  void finish(GpuIndex gpu, Slice& slice, TimeUs at_us, FleetEvent::Kind kind, double left);
  void emit(FleetEvent event);
  void changed(GpuIndex gpu, std::string message);

  static double left_at(const Run& run, TimeUs time);
  void save_gpu(const Gpu& gpu, std::string& out) const;
  void load_gpu(GpuIndex index, const nlohmann::json& saved);
  static void save_run(const Run& run, std::string& out);
  static Run load_run(const nlohmann::json& saved);

  Fleet fleet_;
  std::string id_;
  std::uint64_t uuid_seed_;
  std::vector<Gpu> gpus_;
  std::set<Due> due_;
  std::deque<FleetEvent> events_;
  RunLedger ledger_;
  TimeUs now_ = 0;
  TimeUs floor_us_ = 0;  // No order takes effect before; the last change of speed.
  TimeUs last_event_us_ = 0;
  double speed_ = 1;
  std::uint64_t last_event_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t slices_made_ = 0;
};

std::string_view to_string(FleetEvent::Kind kind);  // "ended"
std::optional<FleetEvent::Kind> fleet_event_kind(std::string_view name);
void write_event(const FleetEvent& event, std::string& out);  // As a JSON array.
FleetEvent load_event(const nlohmann::json& saved);

}  // namespace smartmig
