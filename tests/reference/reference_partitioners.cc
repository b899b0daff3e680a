// "Layouts" and "Partitioners": which multiset each GPU should have, and what naming one does.
#include <algorithm>
#include <string_view>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

SlotSet parse(const Board& board, std::string_view text) {
  const Result<SlotSet> set = parse_layout(board, text);
  SM_CHECK(set.has_value());
  return *set;
}

SlotSet largest_profile_alone(const Board& board) {
  for (std::size_t slot = 0; slot < board.slots.size(); ++slot) {
    if (board.slots[slot].profile == board.largest_profile()) return SlotSet{1} << slot;
  }
  SM_CHECK(false);
  return 0;
}

// day-night: of the switch times that have passed today the last, else yesterday's last.
const std::vector<std::string>& list_in_force(const State& state) {
  const Setup& setup = *state.setup;
  const TimeUs time_of_day = state.now_us % kDayUs;
  int last_passed = -1;
  int last_of_day = 0;
  for (int k = 0; k < static_cast<int>(setup.times_us.size()); ++k) {
    const TimeUs at = setup.times_us[k];
    if (at > setup.times_us[last_of_day]) last_of_day = k;
    if (at <= time_of_day && (last_passed < 0 || at > setup.times_us[last_passed])) last_passed = k;
  }
  return setup.layouts[last_passed >= 0 ? last_passed : last_of_day];
}

std::vector<std::string> chain(const Board& board) {
  if (board.compute_slices == 4) return {"4", "2-2", "2-1-1", "1-1-1-1"};
  SM_CHECK(board.compute_slices == 7);
  return {"7", "4-3", "3-2-2", "3-2-1-1", "2-2-1-1-1", "1-1-1-1-1-1-1"};
}

bool runs_on_layout(const State& state, int job, const Board& board, SlotSet layout) {
  for (std::size_t slot = 0; slot < board.slots.size(); ++slot) {
    if (layout >> slot & 1 && runs_on(state, job, board.profiles[board.slots[slot].profile]))
      return true;
  }
  return false;
}

// A ready job that runs on no slice of the layouts of `steps`: the first GPU that could run it is
// whole in `step`.
void keep_one_whole_for(const State& state, int job, const std::vector<std::size_t>& steps,
                        std::vector<std::size_t>& step) {
  const Phase phase = state.jobs[job].phase;
  const bool in_system = phase != Phase::kFuture && phase != Phase::kDone;
  if (state.setup->preemption == Preemption::kFree ? !in_system : phase != Phase::kReady) return;
  for (std::size_t g = 0; g < steps.size(); ++g) {
    const Board& board = *state.gpus[g].board;
    if (state.gpus[g].up && runs_on_layout(state, job, board, parse(board, chain(board)[steps[g]])))
      return;
  }
  for (std::size_t g = 0; g < steps.size(); ++g) {
    const Board& board = *state.gpus[g].board;
    if (!state.gpus[g].up || !runs_on_layout(state, job, board, parse(board, chain(board)[0])))
      continue;
    step[g] = 0;
    return;
  }
}

void decide_count(State& state) {
  int jobs_in_system = 0;
  for (const JobState& job : state.jobs) {
    if (job.phase != Phase::kFuture && job.phase != Phase::kDone) ++jobs_in_system;
  }
  const int gpu_count = static_cast<int>(state.gpus.size());
  std::vector<std::size_t> step(state.gpus.size(), 0);
  const auto enough_slices = [&] {
    int slices = 0;
    for (int g = 0; g < gpu_count; ++g) {
      const Board& board = *state.gpus[g].board;
      if (state.gpus[g].up) slices += slice_count(parse(board, chain(board)[step[g]]));
    }
    return slices >= jobs_in_system;
  };
  // One round lets each GPU step once, last index first; rounds go on until one changes nothing.
  for (bool stepped = true; stepped;) {
    stepped = false;
    for (int g = gpu_count - 1; g >= 0; --g) {
      const bool can_step = state.gpus[g].up && step[g] + 1 < chain(*state.gpus[g].board).size();
      if (!can_step || enough_slices()) continue;
      ++step[g];
      stepped = true;
    }
  }
  const std::vector<std::size_t> steps = step;
  for (int job = 0; job < static_cast<int>(state.jobs.size()); ++job)
    keep_one_whole_for(state, job, steps, step);
  for (int g = 0; g < gpu_count; ++g) {
    const Board& board = *state.gpus[g].board;
    if (state.gpus[g].up) name_target(state, g, parse(board, chain(board)[step[g]]));
  }
}

}  // namespace

SlotSet first_layout(const State& state, int gpu) {
  const Setup& setup = *state.setup;
  const Board& board = *state.gpus[gpu].board;
  if (setup.partitioner == "static") return parse(board, setup.layouts[0][gpu]);
  if (setup.partitioner == "day-night") return parse(board, list_in_force(state)[gpu]);
  if (setup.partitioner == "on-demand") return 0;
  return largest_profile_alone(board);
}

void name_target(State& state, int g, SlotSet layout) {
  Gpu& gpu = state.gpus[g];
  if (same_layout(*gpu.board, layout, gpu.target)) return;
  ++state.outcome.repartitions;
  gpu.repartitioned_now = true;
  gpu.target = closest_placement(*gpu.board, gpu.target, slots_in_use(state, g), layout);
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const JobState& job = state.jobs[j];
    if (job.gpu != g || ((gpu.target >> job.slot) & 1) != 0) continue;
    // The job is on a doomed slice, or waits for one: a doomed slice takes no new job.
    if (job.phase == Phase::kRunning && state.setup->preemption == Preemption::kFree)
      stop_job_free(state, j);
    if (job.phase == Phase::kAwaiting) make_ready(state, j);
  }
}

void decide_partition(State& state) {
  const std::string& partitioner = state.setup->partitioner;
  if (partitioner == "day-night") {
    for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g)
      name_target(state, g, parse(*state.gpus[g].board, list_in_force(state)[g]));
  } else if (partitioner == "count") {
    decide_count(state);
  } else if (partitioner == "greedy") {
    decide_greedy(state);
  } else if (partitioner == "on-demand") {
    decide_on_demand(state);
  } else if (partitioner == "miso") {
    decide_miso(state);
  } else {
    SM_CHECK(partitioner == "none" || partitioner == "static");  // The first layouts stay.
  }
}

TimeUs next_partitioner_timer(const State& state) {
  TimeUs next = kNever;
  if (state.setup->partitioner == "miso") return next_miso_timer(state);
  if (state.setup->partitioner != "day-night") return next;
  const TimeUs midnight = state.now_us - state.now_us % kDayUs;
  for (TimeUs at : state.setup->times_us) {
    const TimeUs today = midnight + at;
    next = std::min(next, today > state.now_us ? today : today + kDayUs);
  }
  return next;
}

}  // namespace smartmig::reference
