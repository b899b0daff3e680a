// Everything that is done to a simulated fleet, as one value: orders of the controller and what an
// operator, another tool or a fault does to it. The state file is a list of these, and doing them
// again gives the same fleet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "control/driver.h"

namespace smartmig {

// How a run behaves, against what its order says of it.
struct RunBehaviour {
  double fail_at = -1;        // It fails when this fraction of its work is done; below 0: never.
  double overrun = 1;         // Its true time is so many times the estimate.
  TimeUs ignore_stop_us = 0;  // It begins to save so long after it is told; kNever: never.
  bool ignore_kill = false;

  bool operator==(const RunBehaviour&) const = default;
};

struct FleetChange {
  enum class Kind : std::uint8_t {
    kTime,   // Nothing but that time has passed.
    kSpeed,  // The clock runs at `speed` from here on.
    kClaim,  // A controller has taken the fleet.
    kCreate,
    kDestroy,
    kStart,
    kStop,
    kKill,
    kAbandon,  // Who asked for the operation under way has gone.
    kReboot,
    kLose,
    kReturn,
    kForeignCreate,
    kForeignDestroy,
    kForeignRun,
    kForeignStop,
  };
  Kind kind = Kind::kTime;
  GpuIndex gpu = 0;             // kNone: every GPU, for kReboot and kAbandon.
  int slot = 0;                 // For the two creates.
  std::string uuid = {};        // Of the slice, for destroys and foreign runs.
  TimeUs at_us = 0;             // Of orders: the fleet time of their cause.
  RunOrder order = {};          // For kStart; kStop and kKill use `order.run`.
  RunBehaviour behaviour = {};  // For kStart.
  double speed = 1;             // For kSpeed.
};
std::string_view to_string(FleetChange::Kind kind);  // "foreign-create"
std::optional<FleetChange::Kind> fleet_change_kind(std::string_view name);
// Whether the controller gives it as an order, for which it needs a claim.
inline bool is_order(FleetChange::Kind kind) {
  return kind >= FleetChange::Kind::kCreate && kind <= FleetChange::Kind::kKill;
}

// The change without its time, as the fields of a JSON object: `"op":"stop","gpu":3,...`.
void write_change(const FleetChange& change, std::string& out);
// The fields of one of that kind; what is wrong is reported to `fields`.
FleetChange read_change(FleetChange::Kind kind, const JsonFields& fields);
// The fields a behaviour may have: fail_at, overrun, ignore_stop_s (-1: for ever), ignore_kill.
RunBehaviour read_behaviour(const JsonFields& fields);
void write_behaviour(const RunBehaviour& behaviour, std::string& out);

// `text` as a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD.
void write_json_text(std::string_view text, std::string& out);

}  // namespace smartmig
