// The questions and small changes of state.h, each by a loop over everything.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

SlotSet bit(int slot) { return SlotSet{1} << slot; }

TimeUs whole_us(double us) {
  return std::max<TimeUs>(1, static_cast<TimeUs>(std::floor(us + 0.5)));
}

// `left` if the job were stopped now.
double left_if_stopped(const JobState& job, TimeUs now_us) {
  const TimeUs progress_from = job.start_us + job.overhead_us;
  if (now_us <= progress_from) return job.left;
  return job.left * static_cast<double>(job.end_us - now_us) /
         static_cast<double>(job.end_us - progress_from);
}

// Whether the job, which runs, has run for as long as it was believed to take, all in all, and what
// is believed to be left.
struct Belief {
  double left = 1;
  bool overdue = false;
};
Belief belief_if_stopped(const State& state, int job) {
  const JobState& j = state.jobs[job];
  const TimeUs run_us = state.now_us - j.start_us - j.overhead_us;
  if (run_us <= 0) return {j.believed_left, j.overdue};
  const Slice slice{j.gpu, j.slot};
  const double full = full_us(state, job, *state.gpus[slice.gpu].board, profile_of(state, slice));
  const TimeUs whole = whole_us(j.factor * j.believed_left * full);
  const auto fraction = [&](TimeUs us) {
    return j.believed_left * static_cast<double>(us) / static_cast<double>(whole);
  };
  if (!j.overdue && run_us < whole) return {fraction(whole - run_us), false};
  const double again = .5;
  if (!j.overdue) return {again * (1 + fraction(run_us - whole)), true};
  return {j.believed_left + again * fraction(run_us), true};
}

// The believed over the true time on 7g, or on the largest size where the job does not run on 7g.
double own_estimate(const Job& row) {
  TimeUs true_us = 0;
  for (const TimeUs time_us : row.time_us) {
    if (time_us > 0) true_us = time_us;
  }
  return static_cast<double>(row.estimate_us) / static_cast<double>(true_us);
}

}  // namespace

State::State(const Setup& a_setup) : setup(&a_setup), random_placer(a_setup.seed, "random placer") {
  for (const Board* board : setup->gpus) {
    Gpu gpu;
    gpu.board = board;
    gpus.push_back(gpu);
  }
  Random estimate_error(setup->seed, "estimate error");
  for (const Job& row : setup->jobs->jobs) {
    JobState job;
    job.deadline_us = row.deadline_us;
    if (row.estimate_us > 0) job.factor = own_estimate(row);
    if (setup->estimate_sigma != 0)
      job.factor *= std::exp(setup->estimate_sigma * estimate_error.normal());
    jobs.push_back(job);
  }
  outcome.finish_us.assign(jobs.size(), -1);
}

const Profile& profile_of(const State& state, Slice slice) {
  const Board& board = *state.gpus[slice.gpu].board;
  return board.profiles[board.slots[slice.slot].profile];
}

int compute_size(const State& state, Slice slice) {
  return profile_of(state, slice).compute_slices;
}

int first_memory_slice(const State& state, Slice slice) {
  return state.gpus[slice.gpu].board->slots[slice.slot].start;
}

bool runs_on(const State& state, int job, const Profile& profile) {
  const Job& row = state.setup->jobs->jobs[job];
  const int size = size_index(profile.compute_slices);
  return size >= 0 && row.time_us[size] > 0 && row.memory_mib <= profile.memory_mib;
}

bool runs_on(const State& state, int job, Slice slice) {
  return runs_on(state, job, profile_of(state, slice));
}

double full_us(const State& state, int job, const Board& board, const Profile& profile) {
  const int size = size_index(profile.compute_slices);
  const double factor = 1 / board.speed.factor[size];
  return static_cast<double>(state.setup->jobs->jobs[job].time_us[size]) * factor;
}

double left_now(const State& state, int job) {
  const JobState& j = state.jobs[job];
  return j.phase == Phase::kRunning ? left_if_stopped(j, state.now_us) : j.left;
}

double believed_left_now(const State& state, int job) {
  const JobState& j = state.jobs[job];
  return j.phase == Phase::kRunning ? belief_if_stopped(state, job).left : j.believed_left;
}

TimeUs remaining_us(const State& state, int job, double full) {
  return whole_us(state.jobs[job].factor * believed_left_now(state, job) * full);
}

TimeUs remaining_us(const State& state, int job, Slice slice) {
  const double full = full_us(state, job, *state.gpus[slice.gpu].board, profile_of(state, slice));
  return remaining_us(state, job, full);
}

double least_full_us(const State& state, int job, int size) {
  double least = std::numeric_limits<double>::infinity();
  for (const Gpu& gpu : state.gpus) {
    const int base = gpu.board->base_profile(size);
    if (base < 0) continue;
    const Profile& profile = gpu.board->profiles[base];
    if (runs_on(state, job, profile))
      least = std::min(least, full_us(state, job, *gpu.board, profile));
  }
  return least;
}

std::vector<int> fleet_sizes(const State& state) {
  std::vector<int> sizes;
  for (int size : kSizes) {
    bool has = false;
    for (const Gpu& gpu : state.gpus) has = has || gpu.board->base_profile(size) >= 0;
    if (has) sizes.push_back(size);
  }
  return sizes;
}

int job_on(const State& state, Slice slice) {
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const JobState& job = state.jobs[j];
    if (job.phase != Phase::kRunning && job.phase != Phase::kSaving) continue;
    if (job.gpu == slice.gpu && job.slot == slice.slot) return j;
  }
  return -1;
}

int job_awaiting(const State& state, Slice slice) {
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const JobState& job = state.jobs[j];
    if (job.phase == Phase::kAwaiting && job.gpu == slice.gpu && job.slot == slice.slot) return j;
  }
  return -1;
}

std::vector<Slice> usable_slices(const State& state) {
  std::vector<Slice> slices;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Gpu& gpu = state.gpus[g];
    for (int start = 0; start < gpu.board->memory_slices; ++start) {
      for (int slot = 0; slot < static_cast<int>(gpu.board->slots.size()); ++slot) {
        if (gpu.board->slots[slot].start != start) continue;
        const bool there = gpu.up && (gpu.present & bit(slot)) != 0;
        const bool doomed = (gpu.target & bit(slot)) == 0;
        // Wanted again while it is being destroyed: it goes nonetheless.
        const bool going = gpu.operation && !gpu.operation->create && gpu.operation->slot == slot;
        if (there && !doomed && !going) slices.push_back({g, slot});
      }
    }
  }
  return slices;
}

std::vector<Slice> free_slices(const State& state) {
  std::vector<Slice> slices;
  for (Slice slice : usable_slices(state)) {
    if (job_on(state, slice) < 0 && job_awaiting(state, slice) < 0) slices.push_back(slice);
  }
  return slices;
}

SlotSet slots_in_use(const State& state, int gpu) {
  SlotSet used = 0;
  for (const JobState& job : state.jobs) {
    const bool on = job.phase == Phase::kRunning || job.phase == Phase::kSaving;
    const bool promised =
        job.phase == Phase::kAwaiting && state.setup->preemption != Preemption::kFree;
    if (job.gpu == gpu && (on || promised)) used |= bit(job.slot);
  }
  return used;
}

int busy_compute_slices(const State& state, int gpu) {
  int busy = 0;
  for (const JobState& job : state.jobs) {
    const bool on = job.phase == Phase::kRunning || job.phase == Phase::kSaving;
    if (on && job.gpu == gpu) busy += compute_size(state, {gpu, job.slot});
  }
  return busy;
}

TimeUs save_us(const State& state, int job) {
  const Costs& costs = state.setup->costs;
  const Job& row = state.setup->jobs->jobs[job];
  if (!costs.job_columns || state.setup->preemption != Preemption::kCheckpoint) return 0;
  if (row.checkpoint_ms != kByCostModel) return TimeUs{1000} * row.checkpoint_ms;
  return costs.checkpoint_us[static_cast<int>(row.kind)];
}

// For a job of which `left` is left: only one that has run before has anything to restore.
TimeUs restore_us(const State& state, int job, double left) {
  const Costs& costs = state.setup->costs;
  const Job& row = state.setup->jobs->jobs[job];
  if (!costs.job_columns || state.setup->preemption != Preemption::kCheckpoint) return 0;
  if (left >= 1) return 0;
  if (row.restore_ms != kByCostModel) return TimeUs{1000} * row.restore_ms;
  return costs.restore_us[static_cast<int>(row.kind)];
}

TimeUs delay_us(const State& state, int job) {
  const JobState& j = state.jobs[job];
  if (j.phase != Phase::kRunning) return state.setup->costs.start_us;
  return std::max<TimeUs>(0, j.start_us + j.overhead_us - state.now_us);
}

bool works(const State& state, int job, TimeUs at_us) {
  return at_us >= state.jobs[job].start_us + state.setup->costs.start_us;
}

void start_job(State& state, int job, Slice slice) {
  JobState& j = state.jobs[job];
  const double full = full_us(state, job, *state.gpus[slice.gpu].board, profile_of(state, slice));
  j.phase = Phase::kRunning;
  j.gpu = slice.gpu;
  j.slot = slice.slot;
  j.start_us = state.now_us;
  j.overhead_us = state.setup->costs.start_us + restore_us(state, job, j.left);
  j.end_us = j.start_us + j.overhead_us + whole_us(j.left * full);
}

void stop_job_free(State& state, int job) {
  JobState& j = state.jobs[job];
  const Belief belief = belief_if_stopped(state, job);
  j.left = left_if_stopped(j, state.now_us);
  j.believed_left = belief.left;
  j.overdue = belief.overdue;
  state.gpus[j.gpu].last_job_us = state.now_us;
  make_ready(state, job);
  ++state.outcome.preemptions;
}

void stop_job_saving(State& state, int job) {
  JobState& j = state.jobs[job];
  // `left` itself stays until the save has ended: a failure loses the save.
  const Belief belief = belief_if_stopped(state, job);
  j.left_saved = left_if_stopped(j, state.now_us);
  j.believed_left_saved = belief.left;
  j.overdue_saved = belief.overdue;
  j.save_end_us = state.now_us + save_us(state, job);
  j.phase = Phase::kSaving;
  ++state.outcome.preemptions;
}

void end_save(State& state, int job) {
  JobState& j = state.jobs[job];
  j.left = j.left_saved;
  j.believed_left = j.believed_left_saved;
  j.overdue = j.overdue_saved;
  state.gpus[j.gpu].last_job_us = state.now_us;
  make_ready(state, job);
}

void make_ready(State& state, int job) {
  state.jobs[job].phase = Phase::kReady;
  state.jobs[job].gpu = -1;
  state.jobs[job].slot = -1;
}

void start_awaiting_jobs(State& state) {
  for (Slice slice : usable_slices(state)) {
    const int job = job_awaiting(state, slice);
    if (job >= 0 && job_on(state, slice) < 0) start_job(state, job, slice);
  }
}

}  // namespace smartmig::reference
