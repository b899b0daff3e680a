// For tests: State's invariants, worked out anew from what can be read of it. Not under kFree.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <set>
#include <string>

#include "fleet/state.h"
#include "mig/layout.h"

namespace smartmig {

// The first thing wrong with a GPU's slots, targets and operation; empty: nothing.
inline std::string broken_gpu(const State& state, GpuIndex index) {
  const GpuState& gpu = state.gpu(index);
  const Board& board = state.fleet().board(index);
  if (!is_legal(board, gpu.present)) return fmt::format("GPU {}: present is illegal", index);
  if (!is_legal(board, gpu.target)) return fmt::format("GPU {}: target is illegal", index);
  if ((gpu.awaited & ~gpu.target) != 0 || (!gpu.up && gpu.awaited != 0))
    return fmt::format("GPU {}: a job waits for what will not come", index);
  int busy = 0;
  for (SlotSet rest = gpu.present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const SliceId id =
        state.fleet().slice_at(index, board.slots[static_cast<std::size_t>(slot)].start);
    const SliceState& slice = state.slice(id);
    const bool operated = gpu.operation_end_us != kNever && gpu.operation_slot == slot;
    if (operated != (slice.phase != SlicePhase::kReady) || slice.phase == SlicePhase::kAbsent)
      return fmt::format("GPU {}, slot {}: its phase is not that of its operation", index, slot);
    if (slice.phase != SlicePhase::kReady) {
      if (slice.job != kNone) return fmt::format("GPU {}, slot {}: cut under a job", index, slot);
      continue;
    }
    if (slice.slot != slot || slice.kind != state.fleet().kind_of_slot(index, slot))
      return fmt::format("GPU {}, slot {}: its slice is another", index, slot);
    if (slice.doomed != (!gpu.up || !(gpu.target >> slot & 1)))
      return fmt::format("GPU {}, slot {}: doomed is wrong", index, slot);
    if (state.free().is_free(id, slice.kind) != (!slice.doomed && slice.job == kNone))
      return fmt::format("GPU {}, slot {}: free is wrong", index, slot);
    if (slice.job != kNone) busy += state.fleet().kinds()[slice.kind].compute;
  }
  if (state.power().busy(index) != busy) return fmt::format("GPU {}: busy is wrong", index);
  return {};
}

// The first thing wrong with where jobs are; empty: nothing.
inline std::string broken_jobs(const State& state) {
  std::set<SliceId> running;
  for (const SliceId id : state.running()) {
    if (!running.insert(id).second || state.slice(id).job == kNone)
      return fmt::format("slice {} is listed as running", id);
  }
  std::size_t in_system = 0, ready = 0, with_slice = 0;
  std::set<JobIndex> waiting;
  for (JobIndex job = 0; job < state.arrived(); ++job) {
    const JobState& its = state.job_state(job);
    in_system += its.status != JobStatus::kDone;
    ready += its.status == JobStatus::kReady;
    if (its.status == JobStatus::kReady) waiting.insert(job);
    const bool on_slice = its.status == JobStatus::kRunning || its.status == JobStatus::kSaving;
    with_slice += on_slice;
    if (on_slice && (state.slice(its.slice).job != job || !running.contains(its.slice)))
      return fmt::format("job {} and its slice disagree", job);
    if (its.left < 0 || its.left > 1) return fmt::format("job {} has {} left", job, its.left);
  }
  if (with_slice != running.size()) return "a slice has a job that is not there";
  if (state.jobs_in_system() != in_system) return "the number of jobs in the system is wrong";
  if (state.ready_count() != ready) return "the number of ready jobs is wrong";
  for (const State::Group& group : state.groups()) {
    for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at)) {
      if (waiting.erase(group.queue.at(at).job) == 0)
        return fmt::format("job {} is queued and not ready", group.queue.at(at).job);
    }
  }
  return waiting.empty() ? "" : fmt::format("job {} is ready and not queued", *waiting.begin());
}

inline std::string broken_invariant(const State& state) {
  GpuIndex up = 0;
  for (GpuIndex gpu = 0; gpu < state.fleet().gpu_count(); ++gpu) {
    up += state.gpu(gpu).up;
    if (auto wrong = broken_gpu(state, gpu); !wrong.empty()) return wrong;
  }
  if (state.gpus_up() != up) return "the number of GPUs up is wrong";
  return broken_jobs(state);
}

}  // namespace smartmig
