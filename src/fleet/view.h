// What a policy sees: time, ready jobs, slices with what runs on them, layouts, running aggregates.
// Times are as the policy believes them (estimate errors included). It changes nothing, but for one
// thing: a placer may mark free slices as taken while it works its way through the queue, and puts
// them back where all slices stay free.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "fleet/state.h"

namespace smartmig {

// A job's times as the policy sees them now. Questions about sets of kinds are about kinds on which
// it runs.
class Seen {
 public:
  Seen(const State& state, JobIndex job)
      : state_(state), job_(state.job(job)), job_state_(state.job_state(job)) {}

  double left() const { return job_state_.estimate * state_.left_now(job_state_); }
  TimeUs remaining_us(int kind) const { return State::whole_us(left() * full_us(kind)); }
  TimeUs slack_us() const { return job_state_.deadline_us - state_.now(); }  // Until its deadline.

  // Where it would end by its deadline.
  KindSet on_time(KindSet kinds) const {
    const TimeUs slack = slack_us();
    if (slack < 1) return 0;  // Everything takes at least 1 us.
    // Whole microseconds are at most the slack exactly when left * full + .5 is below slack + 1.
    const double limit = static_cast<double>(slack) + 0.5;
    const double left = this->left();
    const bool by_index = job_state_.faster_by_index;
    KindSet found = 0;
    while (kinds) {
      const int kind = 63 - std::countl_zero(kinds);
      const KindSet bit = KindSet{1} << kind;
      kinds ^= bit;
      if (left * full_us(kind) < limit) {
        found |= bit;
      } else if (by_index) {
        break;  // The rest is slower still.
      }
    }
    return found;
  }
  // The fastest, or slowest, with all kinds that tie; `kinds` is not empty.
  KindSet fastest(KindSet kinds) const {
    if (job_state_.faster_by_index)
      return state_.fleet().twins(63 - std::countl_zero(kinds)) & kinds;
    return extreme(kinds, -1);
  }
  KindSet slowest(KindSet kinds) const {
    if (job_state_.faster_by_index) return state_.fleet().twins(std::countr_zero(kinds)) & kinds;
    return extreme(kinds, 1);
  }

 private:
  double full_us(int kind) const {
    return state_.fleet().full_us(job_, static_cast<KindIndex>(kind));
  }
  KindSet extreme(KindSet kinds, double sign) const {
    double best = 0;
    KindSet found = 0;
    for (KindSet rest = kinds; rest; rest &= rest - 1) {
      const double value = sign * full_us(std::countr_zero(rest));
      if (found == 0 || value > best) best = value, found = 0;
      if (value == best) found |= rest & -rest;
    }
    return found;
  }

  const State& state_;
  const Job& job_;
  const JobState& job_state_;
};

// Room that policies use at every instant, kept so that deciding allocates nothing.
struct ViewScratch {
  std::vector<JobQueue::Cursor> cursors;
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
  JobIndex arrived() const { return state_->arrived(); }  // All jobs below this one, no others.
  long events() const { return state_->events(); }        // Arrivals and completions so far.
  // Sums over GPUs and ready jobs, for policies that want them (Partitioner::wants_aggregates).
  const Aggregates& aggregates() const { return state_->aggregates(); }
  SlotSet slots_in_use(GpuIndex gpu) const {
    return state_->slots_in_use(gpu);
  }  // By a job, or promised to one.
  std::uint32_t health_changes() const { return state_->health_changes(); }
  bool is_awaited(GpuIndex gpu, int slot) const { return state_->is_awaited(gpu, slot); }

  double left(JobIndex job) const { return state_->left_now(job); }
  TimeUs remaining_us(JobIndex job, KindIndex kind) const {
    return look_at(job).remaining_us(kind);
  }
  Seen look_at(JobIndex job) const { return Seen(*state_, job); }

  void mark_taken(SliceId slice) { state_->free().take(slice, state_->slice(slice).kind); }
  // Makes the slices of these starts, which were marked at this instant, free again.
  void put_back(std::span<const Start> starts) {
    state_->free().give_back_all(
        starts, [](const Start& start) { return start.slice; },
        [this](const Start& start) { return state_->slice(start.slice).kind; });
  }

  ViewScratch& scratch() { return *scratch_; }

 private:
  State* state_;
  ViewScratch* scratch_;
};

}  // namespace smartmig
