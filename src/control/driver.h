// The port to hardware: what the live controller asks of a fleet, whether simulated or real. A
// driver never decides. Calls block and may hang: the controller makes them from workers it can
// abandon, one at a time for each GPU, so an implementation must allow calls about different GPUs
// at once.
//
// Slices are known by UUID, never by index. GPUs are numbered as describe() lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/units.h"
#include "fleet/fleet.h"

namespace smartmig {

// Named after what NVML answers; docs/operations/simulated-fleet.md shows how to have each.
enum class DriverCode : std::uint8_t {
  kInUse,  // The slice still has a client; passes within tenths of a second, or not.
  kInsufficientResources,  // The placement is taken.
  kNoPermission,
  kNotFound,  // No such GPU, slice or run.
  kNotSupported,
  kGpuLost,  // The board does not answer any more.
  kTimeout,
  kUnreachable,  // The driver's own channel is broken.
  kSuperseded,   // Another controller has claimed the fleet since.
  kAlreadyRan,   // A run of that name was started before.
  kUnknown,
};
std::string_view to_string(DriverCode code);  // "in-use"
// The code of that name, kUnknown for any other.
DriverCode driver_code(std::string_view name);

struct DriverError {
  DriverCode code = DriverCode::kUnknown;
  std::string message;  // One line.
};
template <class T>
using DriverResult = tl::expected<T, DriverError>;

// The last time that a fleet's clock shows: it stands still there. 127,000 years; at a speed of a
// million, 46 days. Sums of it and any length of time that we know fit a TimeUs.
inline constexpr TimeUs kLastFleetUs = 4'000'000'000'000'000'000;

// The fleet's clock. A simulated fleet may run `speed` times faster than the host's monotonic
// clock.
struct FleetClock {
  TimeUs fleet_us = 0;            // What it showed ...
  std::int64_t monotonic_ns = 0;  // ... at this reading of CLOCK_MONOTONIC.
  double speed = 1;

  TimeUs at(std::int64_t monotonic_now_ns) const {
    const double passed_us = static_cast<double>(monotonic_now_ns - monotonic_ns) * speed / 1e3;
    if (passed_us >= static_cast<double>(kLastFleetUs - fleet_us)) return kLastFleetUs;
    return fleet_us + static_cast<TimeUs>(passed_us);
  }
};

struct FleetDescription {
  std::string fleet_id;             // The same as long as the fleet lives.
  std::uint64_t last_event = 0;     // The number that the last one has so far; 0: there was none.
  std::vector<std::string> gpus;    // UUIDs.
  std::vector<std::string> boards;  // For each GPU, a name that BoardTable knows.
  FleetClock clock;
};

enum class RunPhase : std::uint8_t { kIdle, kRunning, kSaving };

struct SliceReading {
  std::string uuid;
  std::uint8_t slot = 0;  // Index into Board::slots: profile and placement.
  RunPhase phase = RunPhase::kIdle;
  std::string run;      // What runs there, as start() named it; empty: nothing of ours.
  TimeUs begin_us = 0;  // Of the run's progress.
};

struct GpuReading {
  bool lost = false;
  bool changing = false;  // A create or destroy is under way, perhaps of an earlier controller;
                          // kChanged follows where nobody waits for its answer any more.
  std::vector<SliceReading> slices;  // By slot.
  double power_w = 0;                // Of the whole board.
  double energy_j = 0;               // Since the fleet began.
};

// A job's next run. Names are the controller's: "JOB.ATTEMPT", never used twice.
struct RunOrder {
  std::string run;
  std::string slice_uuid;
  TimeUs full_us = 0;        // The job's whole work on this slice, as estimated.
  double left = 1;           // Of it.
  TimeUs restore_us = 0;     // Before progress starts.
  TimeUs checkpoint_us = 0;  // What a stop takes.
  double watts = 0;          // Of its own on boards measured job by job; 0: by busy slices.
};

// What happened without our asking, or at the end of what we asked for.
struct FleetEvent {
  enum class Kind : std::uint8_t {
    kEnded,    // The run did its work.
    kFailed,   // It ended with an error.
    kSaved,    // It stopped as told; `left` of its work is in the checkpoint.
    kKilled,   // It stopped as told, without a checkpoint.
    kChanged,  // Something else about the GPU: read it.
  };
  std::uint64_t number = 0;  // Consecutive from 1.
  TimeUs at_us = 0;          // When it happened, on the fleet's clock.
  Kind kind = Kind::kChanged;
  GpuIndex gpu = 0;
  std::string run;
  double left = 0;
  std::string message;  // For kFailed and kChanged, one line.
};

// Orders carry the fleet time of their cause: at a speed of 1,000 the controller's own milliseconds
// would else count as seconds of the fleet. Real fleets take no notice of it.
class Driver {
 public:
  virtual ~Driver() = default;

  // Takes the fleet for this controller until the object goes away; refused while another has it,
  // with a message that names the other. Orders of an earlier claim are refused from then on.
  virtual DriverResult<FleetDescription> claim(const std::string& owner) = 0;
  virtual DriverResult<GpuReading> read(GpuIndex gpu) = 0;
  // All GPUs at once, for the start; by default one by one.
  virtual DriverResult<std::vector<GpuReading>> read_all(GpuIndex count);
  virtual DriverResult<std::string> create(GpuIndex gpu, int slot, TimeUs at_us) = 0;  // The UUID.
  virtual DriverResult<void> destroy(GpuIndex gpu, const std::string& uuid, TimeUs at_us) = 0;
  virtual DriverResult<void> start(GpuIndex gpu, const RunOrder& order, TimeUs at_us) = 0;
  // Begins to save; kSaved follows, or kEnded where it was quicker.
  virtual DriverResult<void> stop(GpuIndex gpu, const std::string& run, TimeUs at_us) = 0;
  // Ends it without a checkpoint; kKilled follows.
  virtual DriverResult<void> kill(GpuIndex gpu, const std::string& run, TimeUs at_us) = 0;
  // Events after `number`, waiting up to `wait_ms` for the first; none if there was none. Events up
  // to `number` may be forgotten: the caller has them in its journal.
  virtual DriverResult<std::vector<FleetEvent>> events_after(std::uint64_t number, int wait_ms) = 0;
  // Gives the fleet back, from any thread: calls under way end with kUnreachable where the driver
  // can end them, and later ones are refused. A call that hangs may hold the object for ever.
  virtual void close() {}
};

}  // namespace smartmig
