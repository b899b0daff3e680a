// What a worker does with the driver about one GPU: a step of a change with a look before and after
// it, the way back, the start and the stop of a run. Faults that pass are waited out here; what is
// left of them is in the outcome. Nothing here knows the journal or the model.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "control/driver.h"

namespace smartmig {

// Slices by slot, as UUIDs.
using KnownSlices = std::map<std::uint8_t, std::string>;

struct StepOutcome {
  enum class Kind : std::uint8_t {
    kDone,     // And verified.
    kFailed,   // `error`; the GPU may be as before, or not: `reading` tells, if there is one.
    kChanged,  // Somebody else did something before it began: nothing was done.
  };
  Kind kind = Kind::kDone;
  DriverError error;
  std::optional<GpuReading> reading;  // The last good look.
  std::string uuid;                   // Of the slice that was made.
};

// Whether the GPU has these slices and no others.
bool has_exactly(const GpuReading& reading, const KnownSlices& known);
SlotSet slots_of(const GpuReading& reading);

StepOutcome make_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                       TimeUs at_us);
StepOutcome destroy_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                          TimeUs at_us);
// Back to `base` by the fewest steps that leave `busy` alone, whatever is there now that is ours or
// was made by the change: `keep` are slices that are neither, and stay. kDone: `reading` has
// exactly that.
StepOutcome undo_change(Driver& driver, GpuIndex gpu, const Board& board, SlotSet base,
                        SlotSet keep, TimeUs at_us);
// kFailed: it does not run.
StepOutcome start_run(Driver& driver, GpuIndex gpu, const RunOrder& order, TimeUs at_us);
// kFailed: it neither stops nor has ended.
StepOutcome stop_run(Driver& driver, GpuIndex gpu, const std::string& run, bool save, TimeUs at_us);

}  // namespace smartmig
