// What a policy sees: time, ready jobs, slices with what runs on them, layouts, running aggregates. Times are as the
// policy believes them (estimate errors included). It changes nothing, but for one thing: a placer may mark free
// slices as taken while it works its way through the queue, and ends with put_back_marks() where all slices stay free.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "fleet/state.h"

namespace smartmig {

// A job's remaining time on each kind it runs on, as the policy sees it.
struct SeenTimes {
  KindSet kinds = 0;    // Those that were asked for.
  KindSet on_time = 0;  // Of these, where it would end by its deadline.
  std::array<TimeUs, kMaxKinds> us;  // Valid for `kinds` only.
};

// Room that policies use at every instant, kept so that deciding allocates nothing.
struct ViewScratch {
  std::vector<JobQueue::Cursor> cursors;
  std::vector<JobIndex> job_on_slice;  // All kNone between uses.
  std::vector<SliceId> marks;
};

class View {
 public:
  View(State& state, ViewScratch& scratch) : state_(&state), scratch_(&scratch) {}

  TimeUs now() const { return state_->now(); }
  const Fleet& fleet() const { return state_->fleet(); }
  Preemption preemption() const { return state_->preemption(); }
  bool everything_ready() const { return preemption() == Preemption::kFree; }
  const Costs& costs() const { return state_->costs(); }
  const Job& job(JobIndex job) const { return state_->job(job); }
  const JobState& job_state(JobIndex job) const { return state_->job_state(job); }
  const SliceState& slice(SliceId slice) const { return state_->slice(slice); }
  const GpuState& gpu(GpuIndex gpu) const { return state_->gpu(gpu); }
  GpuIndex gpus_up() const { return state_->gpus_up(); }
  const FreeSlices& free() const { return state_->free(); }
  std::span<const SliceId> running() const { return state_->running(); }
  std::span<const State::Group> groups() const { return state_->groups(); }
  std::size_t jobs_in_system() const { return state_->jobs_in_system(); }
  std::size_t ready_count() const { return state_->ready_count(); }
  SlotSet slots_in_use(GpuIndex gpu) const { return everything_ready() ? 0 : state_->slots_in_use(gpu); }
  std::uint32_t health_changes() const { return state_->health_changes(); }
  bool is_awaited(GpuIndex gpu, int slot) const { return state_->is_awaited(gpu, slot); }

  double left(JobIndex job) const { return state_->left_now(job); }
  // Scale for times: the fraction left, off by the job's estimate error.
  double seen_left(JobIndex job) const {
    return static_cast<double>(state_->job_state(job).estimate) * state_->left_now(job);
  }
  TimeUs remaining_us(JobIndex job, KindIndex kind) const {
    return State::whole_us(seen_left(job) * fleet().full_us(state_->job(job), kind));
  }
  // For all of `kinds`, on which the job must run.
  void remaining_us(JobIndex job, KindSet kinds, SeenTimes& times) const {
    const double scale = seen_left(job);
    const TimeUs slack = state_->job_state(job).deadline_us - now();
    times.kinds = kinds;
    times.on_time = 0;
    for (KindSet rest = kinds; rest; rest &= rest - 1) {
      const auto kind = static_cast<KindIndex>(std::countr_zero(rest));
      const TimeUs us = State::whole_us(scale * fleet().full_us(state_->job(job), kind));
      times.us[kind] = us;
      times.on_time |= static_cast<KindSet>(us <= slack) << kind;
    }
  }

  void mark_taken(SliceId slice) {
    state_->free().take(slice, state_->slice(slice).kind);
    scratch_->marks.push_back(slice);
  }
  void put_back_marks() {
    for (; !scratch_->marks.empty(); scratch_->marks.pop_back()) state_->free().give_back(scratch_->marks.back(), state_->slice(scratch_->marks.back()).kind);
  }
  void keep_marks() { scratch_->marks.clear(); }

  ViewScratch& scratch() { return *scratch_; }

 private:
  State* state_;
  ViewScratch* scratch_;
};

}  // namespace smartmig
