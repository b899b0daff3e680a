// One request of the fleet's protocol, a JSON object on a line (docs/formats/simulated-fleet.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "drivers/simulated/behaviour_plan.h"
#include "drivers/simulated/fault_plan.h"
#include "drivers/simulated/fleet_change.h"

namespace smartmig {

struct FleetRequest {
  // A longer line ends the connection.
  static constexpr std::size_t kMaxLine = 65'536;

  enum class Call : std::uint8_t {
    kChange,  // An order or something an operator does; `change` says what.
    kDescribe,
    kClaim,
    kRead,
    kReadAll,
    kEvents,
    kInject,
    kBehave,
    kClear,
    kList,
    kAudit,
    kSnapshot,
  };
  Call call = Call::kDescribe;
  std::int64_t id = 0;
  std::string op;
  std::uint64_t epoch = 0;   // Of the claim it comes under; 0: none.
  FleetChange change;        // Its GPU is that of kRead, too.
  std::string owner;         // Who claims.
  std::uint64_t resume = 0;  // A claim of that epoch goes on; 0: a new one.
  std::uint64_t after = 0;   // Events or runs after this number.
  int wait_ms = 0;
  int limit = 0;  // Runs of one answer.
  Fault fault;
  BehaviourRule rule;
  std::optional<std::int64_t> clear_fault;  // With neither, everything is cleared.
  std::optional<std::int64_t> clear_rule;
};

Result<FleetRequest> parse_request(std::string_view line);
// What a fault calls it; empty where no fault strikes it.
std::string_view strikable_name(const FleetRequest& request);

}  // namespace smartmig
