// What a policy sees: time, ready jobs, slices with what runs on them, layouts, running aggregates.
// Of how long jobs take it sees beliefs only (docs/model/semantics.md, "What a policy believes"):
// true times, progress and ends are not within its reach, so that no policy can anticipate. It
// changes nothing, but for one thing: a placer may mark free slices as taken while it works its way
// through the queue, and puts them back where all slices stay free.
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

  TimeUs remaining_us(int kind) const { return State::whole_us(left() * full_us(kind)); }
  TimeUs slack_us() const { return job_state_.deadline_us - state_.now(); }  // Until its deadline.
  // Before it makes progress: the start of its process, or what is left of that. A restore counts
  // once it is under way.
  TimeUs delay_us() const { return state_.delay_us(job_state_); }

  // Where it would end by its deadline.
  KindSet on_time(KindSet kinds) const {
    TimeUs slack = slack_us();
    if (state_.costs().start_us > 0) slack -= delay_us();
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
  // Times the true times: what is left of the believed ones.
  double left() const { return job_state_.estimate * state_.believed_left_now(job_state_); }
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

// What is known of a job beside its times.
struct SeenJob {
  TimeUs submit_us = 0;
  TimeUs deadline_us = 0;            // After what costs took off.
  TimeUs submitted_deadline_us = 0;  // Before that.
  std::int32_t memory_mib = 0;
  std::int32_t request_millionths = 0;  // The share of a GPU its user asked for; 0: not known.
  std::uint16_t profile = kNoProfile;
  JobKind kind = JobKind::kInference;
  bool preemptible = false;
  JobStatus status = JobStatus::kFuture;
  SliceId slice = kNone;  // That it is on.
};

struct SeenSlice {
  TimeUs begin_us = 0;  // Its job makes progress from here on.
  JobIndex job = kNone;
  KindIndex kind = kNoKind;
  std::uint8_t slot = 0;
  SlicePhase phase = SlicePhase::kAbsent;
  bool doomed = false;
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
  SeenJob job(JobIndex index) const {
    const Job& job = state_->job(index);
    const JobState& state = state_->job_state(index);
    return {job.submit_us,          state.deadline_us, job.deadline_us, job.memory_mib,
            job.request_millionths, job.profile,       job.kind,        is_preemptible(job),
            state.status,           state.slice};
  }
  SeenSlice slice(SliceId id) const {
    const SliceState& slice = state_->slice(id);
    return {slice.begin_us, slice.job, slice.kind, slice.slot, slice.phase, slice.doomed};
  }
  // Kinds of slices on which the job, which has arrived, runs.
  KindSet kinds(JobIndex job) const { return state_->groups()[state_->job_state(job).group].kinds; }
  // Asks for the memory that holds what is known of a job, or a slice, before it is looked at.
  void prefetch(JobIndex job) const {
    __builtin_prefetch(&state_->job(job));
    __builtin_prefetch(&state_->job_state(job));
  }
  void prefetch_slice(SliceId slice) const { __builtin_prefetch(&state_->slice(slice)); }
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
  std::span<const State::Awaiting> awaiting() const { return state_->awaiting(); }

  // --- beliefs about times
  // The full time on each size, in microseconds: the least over the base kinds of that size among
  // those on which the job runs; 0: there is none.
  std::array<double, kSizeCount> believed_times(JobIndex job) const {
    return believed_times(job, kinds(job));
  }
  // The same over some of the kinds on which it runs.
  std::array<double, kSizeCount> believed_times(JobIndex job, KindSet kinds) const {
    auto times = state_->fleet().best_times(state_->job(job), kinds);
    const double estimate = state_->job_state(job).estimate;
    if (estimate == 1) return times;
    for (double& us : times) us *= estimate;
    return times;
  }
  // The fraction of these times that is left; above 1 for a job that has run for far longer.
  double believed_left(JobIndex job) const {
    return state_->believed_left_now(state_->job_state(job));
  }
  // How long the job has run, wherever it did, in units of what it was believed to take.
  double believed_done(JobIndex job) const {
    return state_->believed_done_now(state_->job_state(job));
  }
  // When the slice, which has a job, will be left by it.
  TimeUs believed_end(SliceId id) const {
    const SliceState& slice = state_->slice(id);
    // A save takes as long as its job says.
    if (state_->job_state(slice.job).status == JobStatus::kSaving) return slice.end_us;
    return std::max(now(), slice.begin_us) + remaining_us(slice.job, slice.kind);
  }
  TimeUs remaining_us(JobIndex job, KindIndex kind) const {
    return look_at(job).remaining_us(kind);
  }
  // What is left on the largest size among `kinds`, on all of which it runs.
  TimeUs remaining_on_largest_us(JobIndex job, KindSet kinds) const {
    double time = 0;
    for (const double us : believed_times(job, kinds)) time = us > 0 ? us : time;
    return State::whole_us(believed_left(job) * time);
  }
  Seen look_at(JobIndex job) const { return Seen(*state_, job); }
  // The job, which has arrived, as a job that takes exactly what it is believed to take.
  Job believed_job(JobIndex index) const {
    Job job = state_->job(index);
    const double estimate = state_->job_state(index).estimate;
    for (TimeUs& us : job.time_us) {
      if (us > 0) us = State::whole_us(estimate * static_cast<double>(us));
    }
    job.estimate_us = 0;
    return job;
  }
  // How far beliefs about the jobs that ended last were off, or, where they are corrected, would be
  // off now.
  std::size_t belief_error_count() const { return state_->belief_errors().size(); }
  double belief_error(std::size_t i) const { return state_->belief_error(i); }
  // Whether it has done work that a stop now would save, or has saved some: then it restores where
  // it starts again.
  bool has_run(JobIndex job) const { return state_->has_run(job); }
  TimeUs checkpoint_us(JobIndex job) const { return costs().checkpoint_us(state_->job(job)); }
  TimeUs restore_us(JobIndex job) const { return costs().restore_us(state_->job(job)); }

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
