// The numbers by which `smartmig` decides, found by evolution (data/recipes/smartmig.toml). Two
// sets: one where every move is free, one where moves cost. docs/model/prices.md has the rule
// they stand in.
#pragma once

#include <array>
#include <string_view>

#include "nn/safetensors.h"

namespace smartmig {

// Most are natural logarithms of what they stand for, so that any value is legal. `backlog` below
// is ln((jobs in the system + 1) / compute slices), `load` ln(work that arrives per slice), `trend`
// ln of the daily curve soon over a while ago.
enum class Knob : std::uint8_t {
  kOnTime,           // ln of the factor for a step up of a job that is on time without it
  kPriceNow,         // ln of the price of a slice-minute now, in job-minutes of tardiness,
  kPriceNowBacklog,  // its slope in backlog
  kPriceNowLoad,     // and in load
  kPriceLater,       // the same for a job that goes on for long
  kPriceLaterBacklog,
  kPriceLaterLoad,
  kPriceLaterTrend,
  kHorizon,           // ln of the minutes of work over which the one turns into the other
  kLaxity,            // ln of how fast urgency falls with relative laxity
  kTiltFrom,          // ln of the minutes below which jobs count as equally short
  kTilt,              // power of the remaining work in a job's weight,
  kTiltBacklog,       // its slope in backlog
  kTraining,          // ln of the factor for training jobs,
  kTrainingBacklog,   // its slope in backlog
  kLeast,             // ln of the least value per slice for which a job gets a larger size
  kSteepness,         // ln of the power of a step's efficiency,
  kSteepnessBacklog,  // its slope in backlog
  kPriceOverload,  // further slopes where jobs outnumber slices: of the logarithms of both prices,
  kTiltOverload,   // of the tilt
  kSteepnessOverload,  // and of the logarithm of the steepness
  // From here on only where moves cost.
  kHold,         // ln of the factor for what a running job holds already
  kMargin,       // ln of the share of its time by which a job must be early to count as on time
  kBack,         // ln of the minutes until a stopped job runs again,
  kBackBacklog,  // its slope in backlog
  kLeastRun,     // ln of the minutes a job runs before it may be stopped
  kEnergy,       // ln of the job-minutes that a watt-minute is worth
  kStop,         // ln of the job-minutes that a stop costs beside its delay
  kRoom,         // ln of the job-minutes that room for a slice, one compute slice larger, is worth
  kDistrust,     // ln of the factor on the time until a running job makes room
  kMoveGain,     // ln of the job-minutes that moving a running job must save
};
inline constexpr std::size_t kKnobCount = 31;

struct KnobInfo {
  std::string_view name;  // In recipes and files.
  double scale;           // How far a search may expect to move it.
};
std::span<const KnobInfo, kKnobCount> knob_infos();

using Knobs = std::array<double, kKnobCount>;
inline double get(const Knobs& knobs, Knob knob) { return knobs[static_cast<std::size_t>(knob)]; }

struct SmartmigKnobs {
  Knobs free_moves{};
  Knobs costly_moves{};
};

// Before any search: worked out by hand (docs/model/prices.md).
SmartmigKnobs first_knobs();

void put_knobs(TensorFile& file, const SmartmigKnobs& knobs);
Result<SmartmigKnobs> get_knobs(const TensorFile& file, std::string_view name);
// An empty path: the shipped ones.
Result<SmartmigKnobs> read_knobs(const std::string& path);

}  // namespace smartmig
