// What happens to a live fleet, as the model takes it in and the journal keeps it: everything that
// a decision depends on is here, so that replay needs nothing else. docs/formats/journal.md has the
// JSON of each kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/journal.h"
#include "fleet/costs.h"
#include "fleet/fleet.h"

namespace smartmig {

// A job by its number in the journal.
using JobNumber = std::int64_t;

// At most so much change; 0 of a cap: none.
struct Limits {
  double changes_per_gpu_hour = 60;  // Below 1: one in so many hours.
  double power_cap_w = 0;
};

// What a controller decides with.
struct Setup {
  std::string fleet;           // "8xA100-40GB"
  std::string policy;          // A word of the registry.
  std::string costs = "real";  // A name, or the JSON of a costs file.
  std::string preemption = "checkpoint";
  double energy_weight = 2e-7;
  std::uint64_t seed = 1;
  Limits limits;
};

// Where a fleet and its jobs stand as a controller begins, or rebases its journal.
struct Snapshot {
  struct QueuedJob {
    JobNumber number = 0;
    Job job;
    double left = 1;
  };
  struct Step {  // That is under way, of a change of the layout.
    std::uint8_t slot = 0;
    bool create = false;
    TimeUs end_us = 0;  // As expected.
    SlotSet base = 0;   // The layout before the change ...
    SlotSet made = 0;   // ... and what it has made or is making.
  };
  struct GpuStand {
    SlotSet present = 0;  // Without a slice that is being made.
    SlotSet foreign = 0;  // Of them; slices that somebody else made.
    SlotSet target = 0;
    bool closed = false;
    bool fresh = false;  // Nothing was ever made there: the policy's first layout is.
    std::vector<TimeUs> changes_us = {};  // Those that count towards the limit.
    std::optional<Step> step = std::nullopt;
    bool ordered = true;  // Its target is gone to while frozen, too.
    bool held = false;    // The policy does not change its layout.
  };
  static constexpr TimeUs kUnknownEnd = -1;  // Of a save.
  struct Run {
    JobNumber number = 0;
    GpuIndex gpu = 0;
    std::uint8_t slot = 0;
    TimeUs begin_us = 0;
    TimeUs end_us = 0;  // As expected, of the run or of its save.
    bool saving = false;
  };
  struct Wait {  // For a slice that is not there yet, or that another job is still on.
    JobNumber number = 0;
    GpuIndex gpu = 0;
    std::uint8_t slot = 0;
  };

  Setup setup;
  std::string version;  // Of the program.
  bool frozen = false;
  bool goes_on = false;  // It is what the events before it led to, not what a start has found.
  std::vector<QueuedJob> jobs;  // In the order of their numbers; those that run too.
  std::vector<GpuStand> gpus;
  std::vector<Run> runs;
  std::vector<Wait> waits;
};

struct Event {
  enum class Kind : std::uint8_t {
    kBegin,       // `snapshot`
    kSubmit,      // `job`, `work`
    kEnded,       // `job` has done its work.
    kGone,        // `job` left: cancelled, or failed.
    kSaved,       // `job` stopped with `left` of its work.
    kLost,        // `job` is off its slice, back to its last checkpoint.
    kSaving,      // `job` is told to stop, not by a decision (a drain).
    kStepDone,    // The step under way on `gpu`.
    kStepFailed,  // The same; the layout is what it was before the step.
    kRead,        // `gpu` is not as thought: `gone` went, `slots` came; of what is there `foreign`.
    kClose,       // `gpu` takes nothing new.
    kOpen,
    kLayout,  // An operator wants `slots` on `gpu`.
    kFreeze,  // Nothing is decided.
    kUnfreeze,
    kLimits,  // `limits`
    kHold,    // The layout of `gpu` is an operator's: the policy leaves it as it is.
    kUnhold,
    kRound,  // A decision is due.
  };
  Kind kind = Kind::kRound;
  TimeUs at_us = 0;
  JobNumber job = 0;
  GpuIndex gpu = 0;
  double left = 1;
  SlotSet slots = 0;
  SlotSet gone = 0;
  SlotSet foreign = 0;
  Job work;
  Limits limits;
  Snapshot snapshot;
};

std::string_view to_string(Event::Kind kind);

// Number 0: the journal gives it.
EventRow to_row(const Event& event);
Result<Event> parse_event(const EventRow& row);

}  // namespace smartmig
