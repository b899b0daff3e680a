#include "control/steps.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "mig/layout.h"

namespace smartmig {
namespace {

// A slice whose client has just ended answers in-use for some tenths of a second; other faults that
// pass do so within a few tries.
constexpr int kInUseTries = 20;
constexpr int kTries = 3;
constexpr std::chrono::milliseconds kPause{100};
// A create or destroy takes under a second; one that takes this many looks does not end.
constexpr int kSettledLooks = 100;

// Answers that leave open whether the thing was done, or that may not come again.
bool may_pass(DriverCode code) {
  return code == DriverCode::kInUse || code == DriverCode::kTimeout ||
         code == DriverCode::kUnknown || code == DriverCode::kUnreachable ||
         code == DriverCode::kInsufficientResources;
}

DriverResult<GpuReading> look(Driver& driver, GpuIndex gpu) {
  for (int tries = 1;; ++tries) {
    auto reading = driver.read(gpu);
    if (reading && reading->lost)
      return tl::unexpected(DriverError{DriverCode::kGpuLost, "the GPU is lost"});
    if (reading || tries == kTries || !may_pass(reading.error().code)) return reading;
    std::this_thread::sleep_for(kPause);
  }
}

const SliceReading* slice_at(const GpuReading& reading, std::uint8_t slot) {
  for (const SliceReading& slice : reading.slices) {
    if (slice.slot == slot) return &slice;
  }
  return nullptr;
}

StepOutcome failed(DriverError error, std::optional<GpuReading> reading = {}) {
  StepOutcome outcome;
  outcome.kind = StepOutcome::Kind::kFailed;
  outcome.error = std::move(error);
  outcome.reading = std::move(reading);
  return outcome;
}

StepOutcome changed(GpuReading reading) {
  StepOutcome outcome;
  outcome.kind = StepOutcome::Kind::kChanged;
  outcome.reading = std::move(reading);
  return outcome;
}

// Asks until it is so, or will not be. `done` looks whether a reading shows that it is.
template <class Ask, class Done>
StepOutcome ask_until(Driver& driver, GpuIndex gpu, Ask ask, Done done) {
  int in_use = 0;
  for (int tries = 1;;) {
    const std::optional<DriverError> error = ask();
    auto reading = look_settled(driver, gpu);
    if (!reading) return failed(error ? *error : reading.error());
    if (done(*reading)) {
      StepOutcome outcome;
      outcome.reading = std::move(*reading);
      return outcome;
    }
    if (!error)
      return failed({DriverCode::kUnknown, "the call answered, but nothing has changed"},
                    std::move(*reading));
    if (!may_pass(error->code)) return failed(*error, std::move(*reading));
    const bool waits = error->code == DriverCode::kInUse && ++in_use < kInUseTries;
    if (!waits && tries++ >= kTries) return failed(*error, std::move(*reading));
    std::this_thread::sleep_for(kPause);
  }
}

StepOutcome make_one(Driver& driver, GpuIndex gpu, std::uint8_t slot, TimeUs at_us) {
  const auto ask = [&]() -> std::optional<DriverError> {
    auto made = driver.create(gpu, slot, at_us);
    return made ? std::nullopt : std::optional(made.error());
  };
  const auto done = [&](const GpuReading& seen) { return slice_at(seen, slot) != nullptr; };
  StepOutcome outcome = ask_until(driver, gpu, ask, done);
  if (outcome.kind == StepOutcome::Kind::kDone)
    outcome.uuid = slice_at(*outcome.reading, slot)->uuid;
  return outcome;
}

StepOutcome destroy_one(Driver& driver, GpuIndex gpu, std::uint8_t slot, const std::string& uuid,
                        TimeUs at_us) {
  const auto ask = [&]() -> std::optional<DriverError> {
    const auto gone = driver.destroy(gpu, uuid, at_us);
    return gone ? std::nullopt : std::optional(gone.error());
  };
  const auto done = [&](const GpuReading& seen) {
    const SliceReading* there = slice_at(seen, slot);
    return there == nullptr || there->uuid != uuid;
  };
  return ask_until(driver, gpu, ask, done);
}

}  // namespace

bool has_exactly(const GpuReading& reading, const KnownSlices& known) {
  if (reading.slices.size() != known.size()) return false;
  for (const SliceReading& slice : reading.slices) {
    const auto found = known.find(slice.slot);
    if (found == known.end() || found->second != slice.uuid) return false;
  }
  return true;
}

SlotSet slots_of(const GpuReading& reading) {
  SlotSet slots = 0;
  for (const SliceReading& slice : reading.slices) slots |= SlotSet{1} << slice.slot;
  return slots;
}

StepOutcome make_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                       TimeUs at_us) {
  auto before = look_settled(driver, gpu);
  if (!before) return failed(before.error());
  if (!has_exactly(*before, known)) return changed(std::move(*before));
  return make_one(driver, gpu, slot, at_us);
}

StepOutcome destroy_slice(Driver& driver, GpuIndex gpu, std::uint8_t slot, const KnownSlices& known,
                          TimeUs at_us) {
  auto before = look_settled(driver, gpu);
  if (!before) return failed(before.error());
  const SliceReading* there = slice_at(*before, slot);
  // A slice that has come into use is not ours to destroy, whoever uses it.
  if (!has_exactly(*before, known) || there->phase != RunPhase::kIdle)
    return changed(std::move(*before));
  return destroy_one(driver, gpu, slot, there->uuid, at_us);
}

DriverResult<GpuReading> look_settled(Driver& driver, GpuIndex gpu) {
  for (int looks = 1;; ++looks) {
    auto reading = look(driver, gpu);
    if (!reading || !reading->changing) return reading;
    if (looks == kSettledLooks)
      return tl::unexpected(
          DriverError{DriverCode::kTimeout, "a change of its slices does not end"});
    std::this_thread::sleep_for(kPause);
  }
}

StepOutcome move_to(Driver& driver, GpuIndex gpu, const Board& board, SlotSet goal,
                    const OurSlices& ours, TimeUs at_us) {
  auto seen = look_settled(driver, gpu);
  if (!seen) return failed(seen.error());
  // What is busy, has a job or is not ours stays; of the goal what has room beside it.
  SlotSet wanted = 0;
  for (const SliceReading& slice : seen->slices) {
    const bool is_ours = ours.uuids.contains(slice.uuid) || (ours.fills >> slice.slot & 1);
    const bool has_job = ours.with_jobs >> slice.slot & 1;
    if (slice.phase != RunPhase::kIdle || has_job || !is_ours) wanted |= SlotSet{1} << slice.slot;
  }
  for (SlotSet rest = goal & ~wanted; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    if (can_add(board, wanted, slot)) wanted |= SlotSet{1} << slot;
  }
  StepOutcome outcome;
  outcome.reading = std::move(*seen);
  for (const SliceReading& slice : outcome.reading->slices) {
    if (!ours.uuids.contains(slice.uuid) && (ours.fills >> slice.slot & 1))
      outcome.made[slice.slot] = slice.uuid;
  }
  for (const Step& step : transition(board, slots_of(*outcome.reading), wanted).steps) {
    const SliceReading* there = slice_at(*outcome.reading, step.slot);
    if (step.kind == Step::Kind::kDestroy && there == nullptr) {  // Gone by itself: a reset.
      outcome.made.erase(step.slot);
      continue;
    }
    StepOutcome next = step.kind == Step::Kind::kCreate
                           ? make_one(driver, gpu, step.slot, at_us)
                           : destroy_one(driver, gpu, step.slot, there->uuid, at_us);
    next.made = std::move(outcome.made);
    if (next.kind != StepOutcome::Kind::kDone) return next;
    if (step.kind == Step::Kind::kCreate) {
      next.made[step.slot] = next.uuid;
    } else {
      next.made.erase(step.slot);
    }
    outcome = std::move(next);
  }
  outcome.uuid.clear();
  return outcome;
}

DriverResult<std::vector<FleetEvent>> events_up_to_now(Driver& driver, std::uint64_t seen_event) {
  constexpr std::size_t kMany = 1000;  // An answer of so many may not be all of them.
  auto events = driver.events_after(seen_event, 0);
  if (events && events->size() >= kMany)
    return tl::unexpected(DriverError{DriverCode::kTimeout, "too many events are waiting"});
  return events;
}

DriverResult<bool> never_began(Driver& driver, const std::string& run, std::uint64_t seen_event) {
  const auto events = events_up_to_now(driver, seen_event);
  if (!events) return tl::unexpected(events.error());
  return std::none_of(events->begin(), events->end(),
                      [&](const FleetEvent& event) { return event.run == run; });
}

StepOutcome start_run(Driver& driver, GpuIndex gpu, const RunOrder& order, std::uint64_t seen_event,
                      TimeUs at_us) {
  const auto started = driver.start(gpu, order, at_us);
  if (started) return {};
  // Whatever the error: it may have been started all the same, and must not be started twice. Look,
  // do not ask again.
  const auto unclear = [&] {
    StepOutcome outcome = failed(started.error());
    outcome.kind = StepOutcome::Kind::kUnclear;
    return outcome;
  };
  auto reading = look(driver, gpu);
  if (!reading) return unclear();
  for (const SliceReading& slice : reading->slices) {
    if (slice.run == order.run) return {};
  }
  const auto never = never_began(driver, order.run, seen_event);
  if (!never) return unclear();
  return *never ? failed(started.error(), std::move(*reading)) : StepOutcome{};
}

StepOutcome stop_run(Driver& driver, GpuIndex gpu, const std::string& run, bool save,
                     TimeUs at_us) {
  for (int tries = 1;; ++tries) {
    const auto stopped = save ? driver.stop(gpu, run, at_us) : driver.kill(gpu, run, at_us);
    if (stopped) return {};
    const auto reading = look(driver, gpu);
    if (!reading) return failed(stopped.error());
    const auto there = std::find_if(reading->slices.begin(), reading->slices.end(),
                                    [&](const SliceReading& slice) { return slice.run == run; });
    // Not there: it has ended, and the fleet's events will say how.
    if (there == reading->slices.end() || (save && there->phase == RunPhase::kSaving)) return {};
    if (tries == kTries) return failed(stopped.error());
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace smartmig
