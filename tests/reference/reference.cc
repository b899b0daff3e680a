// The run: instants one after the other, each in the order of "One instant".
#include "reference/reference.h"

#include <algorithm>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

int job_count(const State& state) { return static_cast<int>(state.jobs.size()); }
int gpu_count(const State& state) { return static_cast<int>(state.gpus.size()); }

// Each returns whether anything happened that calls the partitioner.
bool complete_jobs(State& state) {
  bool any = false;
  for (int j = 0; j < job_count(state); ++j) {
    JobState& job = state.jobs[j];
    if (job.phase != Phase::kRunning || job.end_us != state.now_us) continue;
    state.gpus[job.gpu].last_job_us = state.now_us;
    job.phase = Phase::kDone;
    job.gpu = job.slot = -1;
    state.outcome.finish_us[j] = state.now_us;
    ++state.outcome.events;
    any = true;
  }
  return any;
}

bool end_operations(State& state) {
  bool any = false;
  for (Gpu& gpu : state.gpus) {
    if (!gpu.operation || gpu.operation->end_us != state.now_us) continue;
    end_operation(gpu);
    any = true;
  }
  return any;
}

bool end_saves(State& state) {
  bool any = false;
  for (int j = 0; j < job_count(state); ++j) {
    const JobState& job = state.jobs[j];
    if (job.phase != Phase::kSaving || job.save_end_us != state.now_us) continue;
    end_save(state, j);
    any = true;
  }
  return any;
}

void fail_gpu(State& state, int g) {
  Gpu& gpu = state.gpus[g];
  gpu.up = false;
  gpu.failed_now = true;
  gpu.queue.clear();
  gpu.present = 0;
  gpu.operation.reset();
  gpu.last_job_us = -1;
  // Running, saving or waiting there: `left` is still what it was at the last start.
  for (int j = 0; j < job_count(state); ++j) {
    if (state.jobs[j].gpu == g) make_ready(state, j);
  }
}

// Events before the first submit happen at it. `next_event` counts those that have happened, in
// order of time.
bool fail_and_return_gpus(State& state, const std::vector<GpuEvent>& events,
                          std::size_t& next_event) {
  bool any = false;
  for (; next_event < events.size() && events[next_event].at_us <= state.now_us; ++next_event) {
    const GpuEvent& event = events[next_event];
    if (event.fail == !state.gpus[event.gpu].up) continue;  // It is as the event says already.
    if (event.fail) {
      fail_gpu(state, event.gpu);
    } else {
      state.gpus[event.gpu].up = true;
    }
    any = true;
  }
  return any;
}

bool admit_jobs(State& state) {
  bool any = false;
  for (int j = 0; j < job_count(state); ++j) {
    if (state.jobs[j].phase != Phase::kFuture) continue;
    if (state.setup->jobs->jobs[j].submit_us != state.now_us) continue;
    state.jobs[j].phase = Phase::kReady;
    ++state.outcome.events;
    any = true;
  }
  return any;
}

// The next operation of a GPU that has none under way ("Layouts", fourth rule).
std::optional<Operation> choose_operation(const State& state, int g) {
  const Gpu& gpu = state.gpus[g];
  const bool timed = state.setup->costs.timed_operations;
  for (int slot = 0; slot < static_cast<int>(gpu.board->slots.size()); ++slot) {
    const SlotSet bit = SlotSet{1} << slot;
    if ((gpu.target & bit) == 0 || (gpu.present & bit) != 0) continue;
    if (!is_legal(*gpu.board, gpu.present | bit)) continue;
    const int size = size_index(compute_size(state, {g, slot}));
    return Operation{true, slot, state.now_us + (timed ? gpu.board->times.create_us[size] : 0)};
  }
  for (int slot = 0; slot < static_cast<int>(gpu.board->slots.size()); ++slot) {
    const SlotSet bit = SlotSet{1} << slot;
    if ((gpu.present & bit) == 0 || (gpu.target & bit) != 0) continue;
    if (job_on(state, {g, slot}) >= 0) continue;
    const int size = size_index(compute_size(state, {g, slot}));
    return Operation{false, slot, state.now_us + (timed ? gpu.board->times.destroy_us[size] : 0)};
  }
  return std::nullopt;
}

}  // namespace

void end_operation(Gpu& gpu) {
  const SlotSet bit = SlotSet{1} << gpu.operation->slot;
  gpu.present = gpu.operation->create ? gpu.present | bit : gpu.present & ~bit;
  gpu.operation.reset();
}

namespace {

// Begins what can begin; what takes no time also ends here.
void carry_out_operations(State& state) {
  for (int g = 0; g < gpu_count(state); ++g) {
    Gpu& gpu = state.gpus[g];
    while (gpu.up && !gpu.operation) {
      gpu.operation = choose_operation(state, g);
      if (!gpu.operation) break;
      if (gpu.operation->end_us == state.now_us) end_operation(gpu);
    }
  }
}

// `free`: the placer's assignment is the new state.
void reassign_all(State& state) {
  std::vector<int> ready;
  for (int j = 0; j < job_count(state); ++j) {
    const Phase phase = state.jobs[j].phase;
    if (phase == Phase::kReady || phase == Phase::kRunning) ready.push_back(j);
  }
  const std::vector<Placement> placements = place(state, ready, usable_slices(state));
  const auto keeps_slice = [&](int j) {
    for (const Placement& p : placements) {
      const JobState& job = state.jobs[j];
      if (p.job == j && p.slice.gpu == job.gpu && p.slice.slot == job.slot) return true;
    }
    return false;
  };
  for (int j : ready) {
    if (state.jobs[j].phase == Phase::kRunning && !keeps_slice(j)) stop_job_free(state, j);
  }
  for (const Placement& p : placements) {
    if (state.jobs[p.job].phase != Phase::kRunning) start_job(state, p.job, p.slice);
  }
}

// `none` and `checkpoint`: waiting jobs on free slices.
void place_waiting(State& state) {
  std::vector<int> ready;
  for (int j = 0; j < job_count(state); ++j) {
    if (state.jobs[j].phase == Phase::kReady) ready.push_back(j);
  }
  for (const Placement& p : place(state, ready, free_slices(state)))
    start_job(state, p.job, p.slice);
}

// "Costs", `paper`.
void cut_deadlines(State& state) {
  for (JobState& job : state.jobs) {
    if (job.phase != Phase::kRunning || !state.gpus[job.gpu].repartitioned_now) continue;
    if (is_free(state) || job.start_us == state.now_us)
      job.deadline_us -= state.setup->costs.deadline_cut_us;
  }
}

// Policies that place jobs themselves, and those that no displacement interferes with.
bool is_joint(const State& state) {
  const std::string& partitioner = state.setup->partitioner;
  return partitioner == "greedy" || partitioner == "on-demand" || partitioner == "miso";
}
bool watches_everything(const State& state) {
  return is_joint(state) && state.setup->partitioner != "greedy";
}

// Everything that happens now. `timer`: one of the partitioner is due.
void one_instant(State& state, const std::vector<GpuEvent>& events, std::size_t& next_event,
                 bool timer) {
  for (Gpu& gpu : state.gpus) gpu.repartitioned_now = false;
  bool call_partitioner = complete_jobs(state);
  const bool any_operation = end_operations(state);
  const bool any_save = end_saves(state);
  call_partitioner |= watches_everything(state) && (any_operation || any_save);
  call_partitioner |= fail_and_return_gpus(state, events, next_event);
  call_partitioner |= admit_jobs(state);

  if (call_partitioner || timer) decide_partition(state);
  carry_out_operations(state);
  start_awaiting_jobs(state);
  for (Gpu& gpu : state.gpus) gpu.failed_now = false;
  if (state.setup->preemption == Preemption::kCheckpoint && !watches_everything(state)) {
    displace_jobs(state);
    // Saves that take no time have ended: their jobs are ready for the placer.
    end_saves(state);
    start_awaiting_jobs(state);
  }
  if (!is_joint(state)) {
    if (is_free(state)) {
      reassign_all(state);
    } else {
      place_waiting(state);
    }
  }
  cut_deadlines(state);
}

// The next time at which anything but a timer of the partitioner is due.
TimeUs next_happening(const State& state, const std::vector<GpuEvent>& events,
                      std::size_t next_event) {
  TimeUs next = kNever;
  for (int j = 0; j < job_count(state); ++j) {
    const JobState& job = state.jobs[j];
    if (job.phase == Phase::kFuture) next = std::min(next, state.setup->jobs->jobs[j].submit_us);
    if (job.phase == Phase::kRunning) next = std::min(next, job.end_us);
    if (job.phase == Phase::kSaving) next = std::min(next, job.save_end_us);
  }
  for (const Gpu& gpu : state.gpus) {
    if (gpu.operation) next = std::min(next, gpu.operation->end_us);
  }
  if (next_event < events.size()) next = std::min(next, events[next_event].at_us);
  return next;
}

bool all_done(const State& state) {
  for (const JobState& job : state.jobs) {
    if (job.phase != Phase::kDone) return false;
  }
  return true;
}

// No job is on a slice and nothing from outside is to come: only timers and operations can change
// anything.
bool at_rest(const State& state, const std::vector<GpuEvent>& events, std::size_t next_event) {
  if (next_event < events.size()) return false;
  for (const JobState& job : state.jobs) {
    if (job.phase != Phase::kReady && job.phase != Phase::kDone) return false;
  }
  return true;
}

// What each GPU is charged ("Energy"), and what it drew since then without a job, which is charged
// once it has a job again.
struct Account {
  double charged_j = 0;
  double open_j = 0;
};

// Charges the GPUs from now to `until_us`. Power changes between instants only where a board's
// linger ends or a process has started; a trace has another rule from its last submit on.
void charge(const State& state, TimeUs until_us, std::vector<Account>& accounts) {
  const auto& trace = state.setup->jobs->trace;
  for (int g = 0; g < gpu_count(state); ++g) {
    const Gpu& gpu = state.gpus[g];
    std::vector<TimeUs> cuts = {state.now_us, until_us};
    cuts.push_back(gpu.last_job_us + gpu.board->power.context_linger_us);
    if (trace) cuts.push_back(trace->last_submit_us);
    for (const JobState& job : state.jobs) {
      if (job.gpu == g) cuts.push_back(job.start_us + state.setup->costs.start_us);
    }
    for (TimeUs& cut : cuts) cut = std::clamp(cut, state.now_us, until_us);
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double joules = power_w(state, g, cuts[i]) * to_s(cuts[i + 1] - cuts[i]);
      Account& account = accounts[g];
      account.open_j += joules;
      const bool has_job = busy_compute_slices(state, g) > 0;
      const bool may_wait = trace && !has_job && cuts[i] >= trace->last_submit_us;
      if (may_wait || cuts[i] == cuts[i + 1]) continue;
      account.charged_j += account.open_j;
      account.open_j = 0;
    }
  }
}

double charged_j(const std::vector<Account>& accounts) {
  double sum = 0;
  for (const Account& account : accounts) sum += account.charged_j;
  return sum;
}

// All jobs are done, but jobs that fit no slice were left out of the trace after that.
void wait_for_last_submit(State& state, const std::vector<GpuEvent>& events,
                          std::size_t& next_event, std::vector<Account>& accounts) {
  const TimeUs last_us = state.setup->jobs->trace->last_submit_us;
  while (state.now_us < last_us) {
    TimeUs next_us = last_us;
    if (next_event < events.size()) next_us = std::min(next_us, events[next_event].at_us);
    charge(state, next_us, accounts);
    state.now_us = next_us;
    fail_and_return_gpus(state, events, next_event);
  }
}

}  // namespace

Outcome run(const Setup& setup) {
  State state(setup);
  if (state.jobs.empty()) return state.outcome;
  std::vector<GpuEvent> events = setup.events;
  std::stable_sort(events.begin(), events.end(),
                   [](const GpuEvent& a, const GpuEvent& b) { return a.at_us < b.at_us; });
  std::size_t next_event = 0;

  const auto& trace = setup.jobs->trace;
  state.now_us = trace ? trace->first_submit_us : setup.jobs->jobs.front().submit_us;
  for (int g = 0; g < gpu_count(state); ++g)
    state.gpus[g].present = state.gpus[g].target = first_layout(state, g);

  std::vector<Account> accounts(state.gpus.size());
  int fruitless_timers = 0;  // On end, with the fleet at rest.
  bool timer = false;
  // Where the first submits of a trace were left out, nothing happens at its beginning.
  bool happens = setup.jobs->jobs.front().submit_us == state.now_us ||
                 (!events.empty() && events.front().at_us <= state.now_us);
  for (;; happens = true) {
    if (happens) {
      one_instant(state, events, next_event, timer);
      if (setup.sum_up) state.outcome.sums.push_back(sum_up(state));
    }
    // The papers' run ends at its last completion; what a job that can never run would add is not
    // part of it.
    for (TimeUs finish_us : state.outcome.finish_us) {
      if (finish_us == state.now_us) state.outcome.energy_j = charged_j(accounts);
    }
    if (all_done(state)) break;

    const TimeUs timer_us = next_partitioner_timer(state);
    const TimeUs next_us = std::min(timer_us, next_happening(state, events, next_event));
    timer = next_us == timer_us;
    if (next_us == kNever) break;
    // Two days of timers that started no job: no later one will.
    if (!at_rest(state, events, next_event)) fruitless_timers = 0;
    const int patience =
        setup.partitioner == "miso" ? 4 : 2 * static_cast<int>(setup.times_us.size());
    if (timer && ++fruitless_timers > patience) break;
    charge(state, next_us, accounts);
    state.now_us = next_us;
  }
  if (trace) {
    wait_for_last_submit(state, events, next_event, accounts);
    state.outcome.energy_j = charged_j(accounts);
  }
  for (const JobState& job : state.jobs) state.outcome.deadline_us.push_back(job.deadline_us);
  return state.outcome;
}

}  // namespace smartmig::reference
