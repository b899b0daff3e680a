// "Displacement": under `checkpoint`, waiting jobs that would be late take the slices of
// preemptible ones.
#include <algorithm>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

struct Displacement {
  int waiting = 0;
  int running = 0;
  Slice slice;
  TimeUs fall_us = 0;
};

bool preemptible(const Job& job) {
  if (job.preemptible == Preemptible::kByKind) return job.kind == JobKind::kTraining;
  return job.preemptible == Preemptible::kYes;
}

TimeUs tardiness_us(const State& state, int job, TimeUs completion_us) {
  return std::max<TimeUs>(0, completion_us - state.jobs[job].deadline_us);
}

// The end of the job on a slice as a policy sees it: by its estimate, after what is left of a
// restore.
TimeUs seen_end_us(const State& state, int job) {
  const JobState& j = state.jobs[job];
  if (j.phase == Phase::kSaving) return j.save_end_us;
  return std::max(state.now_us, j.start_us + j.overhead_us) +
         remaining_us(state, job, Slice{j.gpu, j.slot});
}

// W's start and restore are part of its completion wherever it runs.
TimeUs waiting_completion_us(const State& state, int job, Slice slice, TimeUs from_us) {
  return from_us + state.setup->costs.start_us + restore_us(state, job, state.jobs[job].left) +
         remaining_us(state, job, slice);
}

bool late_on_every_free_slice(const State& state, int job) {
  for (Slice slice : free_slices(state)) {
    if (!runs_on(state, job, slice)) continue;
    if (waiting_completion_us(state, job, slice, state.now_us) <= state.jobs[job].deadline_us)
      return false;
  }
  return true;
}

// C_W0.
TimeUs completion_without_us(const State& state, int waiting) {
  TimeUs least = kNever;
  for (Slice slice : usable_slices(state)) {
    if (!runs_on(state, waiting, slice) || job_awaiting(state, slice) >= 0) continue;
    const int occupant = job_on(state, slice);
    const TimeUs available = occupant < 0 ? state.now_us : seen_end_us(state, occupant);
    least = std::min(least, waiting_completion_us(state, waiting, slice, available));
  }
  return least;
}

// C_R1, given C_W1.
TimeUs displaced_completion_us(const State& state, int running, Slice slice, TimeUs waiting_us) {
  const TimeUs again =
      state.setup->costs.start_us + restore_us(state, running, left_now(state, running));
  TimeUs least = waiting_us + again + remaining_us(state, running, slice);
  for (Slice other : free_slices(state)) {
    if (!runs_on(state, running, other)) continue;
    least = std::min(least, state.now_us + save_us(state, running) + again +
                                remaining_us(state, running, other));
  }
  return least;
}

TimeUs fall_us(const State& state, int waiting, int running, Slice slice) {
  const TimeUs w0 = completion_without_us(state, waiting);
  const TimeUs r0 = seen_end_us(state, running);
  const TimeUs w1 =
      waiting_completion_us(state, waiting, slice, state.now_us + save_us(state, running));
  const TimeUs r1 = displaced_completion_us(state, running, slice, w1);
  return tardiness_us(state, waiting, w0) + tardiness_us(state, running, r0) -
         tardiness_us(state, waiting, w1) - tardiness_us(state, running, r1);
}

// The pair with the largest positive fall; the first of equals, by W and then by slice.
std::optional<Displacement> best_displacement(const State& state) {
  std::optional<Displacement> best;
  for (int w = 0; w < static_cast<int>(state.jobs.size()); ++w) {
    if (state.jobs[w].phase != Phase::kReady || !late_on_every_free_slice(state, w)) continue;
    for (Slice slice : usable_slices(state)) {
      const int r = job_on(state, slice);
      if (r < 0 || state.jobs[r].phase != Phase::kRunning) continue;
      if (!preemptible(state.setup->jobs->jobs[r])) continue;
      if (!runs_on(state, w, slice) || job_awaiting(state, slice) >= 0) continue;
      const TimeUs fall = fall_us(state, w, r, slice);
      if (fall > 0 && (!best || fall > best->fall_us)) best = Displacement{w, r, slice, fall};
    }
  }
  return best;
}

}  // namespace

void displace_jobs(State& state) {
  while (const std::optional<Displacement> d = best_displacement(state)) {
    stop_job_saving(state, d->running);
    JobState& waiting = state.jobs[d->waiting];
    waiting.phase = Phase::kAwaiting;
    waiting.gpu = d->slice.gpu;
    waiting.slot = d->slice.slot;
  }
}

}  // namespace smartmig::reference
