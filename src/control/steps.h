// What a worker does with the driver about one GPU: a step of a change with a look before and after
// it, the way back, the start and the stop of a run. Faults that pass are waited out here; what is
// left of them is in the outcome. Nothing here knows the journal or the model.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
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
    kUnclear,  // Of a start: `error`, and it is not known whether it runs.
  };
  Kind kind = Kind::kDone;
  DriverError error;
  std::optional<GpuReading> reading;  // The last good look.
  std::string uuid;                   // Of the slice that was made.
  KnownSlices made;                   // By move_to(): those that are there, also where it failed.
};

// Whether the GPU has these slices and no others.
bool has_exactly(const GpuReading& reading, const KnownSlices& known);
SlotSet slots_of(const GpuReading& reading);

StepOutcome make_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                       TimeUs at_us);
StepOutcome destroy_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                          TimeUs at_us);
// What a change of our own may take away: the slices that were ours, and whatever stands in a slot
// that it was about to fill. Never a slot on which a job is by our books: its run may have ended
// without our having heard of it, and then the hardware shows an idle slice.
struct OurSlices {
  std::set<std::string> uuids;
  SlotSet fills = 0;
  SlotSet with_jobs = 0;
};
// To `goal` by the fewest steps, leaving alone what is busy, has a job or is not ours; of the goal
// what has room beside that. The way back of a change that failed, and another try at one. kDone:
// `reading` has exactly that.
StepOutcome move_to(Driver& driver, GpuIndex gpu, const Board& board, SlotSet goal,
                    const OurSlices& ours, TimeUs at_us);
// A look at a GPU that waits for a create or destroy under way, whoever ordered it.
DriverResult<GpuReading> look_settled(Driver& driver, GpuIndex gpu);
// What has happened after `seen_event` and up to now; the events up to that have been journalled.
// An error also where one answer may not hold all of them.
DriverResult<std::vector<FleetEvent>> events_up_to_now(Driver& driver, std::uint64_t seen_event);
// Whether the run was never begun. `reading` does not show it, so if it was it is over, and an
// event after `seen_event` says so; the events up to that have been handled.
DriverResult<bool> never_began(Driver& driver, const std::string& run, std::uint64_t seen_event);
// kDone: it runs, or did. kFailed: it never began.
StepOutcome start_run(Driver& driver, GpuIndex gpu, const RunOrder& order, std::uint64_t seen_event,
                      TimeUs at_us);
// kFailed: it neither stops nor has ended.
StepOutcome stop_run(Driver& driver, GpuIndex gpu, const std::string& run, bool save, TimeUs at_us);

}  // namespace smartmig
