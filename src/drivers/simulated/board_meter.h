// The energy of one board under the `real` costs, by the model of fleet/power.h, with one thing
// more: changes of the recent past may still be told, in any order, because an order may take
// effect a little before it arrives (docs/formats/simulated-fleet.md). What is older is settled.
//
// Invariants: 1. every change kept is after settled_us(); 2. levels are sums of whole microseconds,
// so that it does not matter when something is settled.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/units.h"
#include "mig/board.h"

namespace smartmig {

class BoardMeter {
 public:
  enum class Kind : std::uint8_t { kBusy, kDown, kUp };
  struct Change {
    TimeUs at_us = 0;
    Kind kind = Kind::kBusy;
    int compute = 0;   // Compute slices that become busy, or idle where it is below 0.
    double watts = 0;  // Of the process there; counts on boards measured job by job.
  };

  // Keeps the change; settles what is before `settle_us`, which no later change may precede.
  void add(const BoardPower& power, const Change& change, TimeUs settle_us);
  double energy_j(const BoardPower& power, TimeUs now) const;
  double power_w(const BoardPower& power, TimeUs now) const;
  TimeUs settled_us() const { return now_.since_us; }

  void save(std::string& out) const;  // As JSON.
  static BoardMeter load(const nlohmann::json& saved);

 private:
  static constexpr int kMaxLevels = 16;  // More than any board has.
  struct Level {
    TimeUs since_us = 0;
    double added_w = 0;  // Sum of the processes' own watts.
    int busy = 0;        // Compute slices.
    bool up = true;
    bool lingers = false;  // It has had a process; a context may still be open.
  };
  struct Sums {
    std::array<std::int64_t, kMaxLevels> level_us{};  // By busy compute slices.
    std::int64_t context_us = 0;
    double added_j = 0;
  };
  static void pass(const BoardPower& power, TimeUs until, Level& level, Sums& sums);
  static void apply(const Change& change, Level& level);

  Level now_;  // As of the last settled change.
  Sums sums_;
  std::vector<Change> recent_;  // By time; those of one time in the order told.
};

}  // namespace smartmig
