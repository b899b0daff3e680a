// "Partitioners", `greedy`: sizes for the ready jobs, packed into GPUs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

// A job and the compute size it is to get; 0: none.
struct Sized {
  int job = 0;
  int size = 0;
};

// Sizes of the fleet on which the job runs, ascending.
std::vector<int> sizes_of(const State& state, int job) {
  std::vector<int> sizes;
  for (int size : fleet_sizes(state)) {
    if (least_full_us(state, job, size) < std::numeric_limits<double>::infinity())
      sizes.push_back(size);
  }
  return sizes;
}

// The next larger (or smaller) size that the job runs on; 0 if there is none.
int next_larger(const State& state, int job, int size) {
  for (int other : sizes_of(state, job)) {
    if (other > size) return other;
  }
  return 0;
}
int next_smaller(const State& state, int job, int size) {
  int smaller = 0;
  for (int other : sizes_of(state, job)) {
    if (other < size) smaller = other;
  }
  return smaller;
}

TimeUs remaining_at(const State& state, int job, int size) {
  return remaining_us(state, job, least_full_us(state, job, size));
}

double minutes_at(const State& state, int job, int size) {
  return state.jobs[job].factor * least_full_us(state, job, size) / 6e7;
}

double gain(const State& state, int job, int before, int after) {
  const int first = sizes_of(state, job).front();
  const double p_before = minutes_at(state, job, before);
  const double p_after = minutes_at(state, job, after);
  return (1 / p_after - 1 / p_before) / (after - before) *
         std::pow(minutes_at(state, job, first), .9) / std::pow(believed_left_now(state, job), .1);
}

std::vector<int> jobs_to_size(const State& state) {
  std::vector<int> jobs;
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const Phase phase = state.jobs[j].phase;
    if (phase == Phase::kReady || (is_free(state) && phase == Phase::kRunning)) jobs.push_back(j);
  }
  return jobs;
}

// Slices of a GPU that packing must leave where they are.
SlotSet fixed_slots(const State& state, int gpu) {
  return is_free(state) ? 0 : slots_in_use(state, gpu);
}

int slices_to_give(const State& state) {
  int slices = 0;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Gpu& gpu = state.gpus[g];
    if (!gpu.up) continue;
    slices += gpu.board->compute_slices - compute_slices(*gpu.board, fixed_slots(state, g));
  }
  return slices;
}

std::vector<Sized> choose_sizes(const State& state) {
  int slices_left = slices_to_give(state);
  std::vector<Sized> sized;
  for (int job : jobs_to_size(state)) {
    if (!sizes_of(state, job).empty()) sized.push_back({job, sizes_of(state, job).front()});
  }
  std::stable_sort(sized.begin(), sized.end(), [&](const Sized& a, const Sized& b) {
    return remaining_at(state, a.job, a.size) < remaining_at(state, b.job, b.size);
  });
  for (Sized& s : sized) {
    if (s.size <= slices_left) {
      slices_left -= s.size;
    } else {
      s.size = 0;
    }
  }
  std::erase_if(sized, [](const Sized& s) { return s.size == 0; });
  std::sort(sized.begin(), sized.end(),
            [](const Sized& a, const Sized& b) { return a.job < b.job; });

  for (;;) {
    Sized* best = nullptr;
    double best_gain = 0;
    for (Sized& s : sized) {
      const int after = next_larger(state, s.job, s.size);
      const bool late = state.now_us + delay_us(state, s.job) + remaining_at(state, s.job, s.size) >
                        state.jobs[s.job].deadline_us;
      if (after == 0 || !late || after - s.size > slices_left) continue;
      const double g = gain(state, s.job, s.size, after);
      if (best == nullptr || g > best_gain) {
        best = &s;
        best_gain = g;
      }
    }
    if (best == nullptr) return sized;
    const int after = next_larger(state, best->job, best->size);
    slices_left -= after - best->size;
    best->size = after;
  }
}

// Any legal set that has the fixed slots and, beside them, base profiles of exactly these sizes.
std::optional<SlotSet> legal_set_with(const Board& board, SlotSet fixed, std::vector<int> sizes) {
  std::sort(sizes.begin(), sizes.end());
  for (SlotSet set : legal_sets(board, base_slots(board) | fixed)) {
    if ((set & fixed) != fixed) continue;
    std::vector<int> others;
    bool only_base = true;
    for (std::size_t slot = 0; slot < board.slots.size(); ++slot) {
      if (((set >> slot) & 1) == 0 || ((fixed >> slot) & 1) != 0) continue;
      const Profile& profile = board.profiles[board.slots[slot].profile];
      only_base = only_base && profile.kind == ProfileKind::kBase;
      others.push_back(profile.compute_slices);
    }
    std::sort(others.begin(), others.end());
    if (only_base && others == sizes) return set;
  }
  return std::nullopt;
}

bool runs_at(const State& state, int job, const Board& board, int size) {
  const int base = board.base_profile(size);
  return base >= 0 && runs_on(state, job, board.profiles[base]);
}

std::vector<int> sizes_only(const std::vector<Sized>& sized) {
  std::vector<int> sizes;
  for (const Sized& s : sized) sizes.push_back(s.size);
  return sizes;
}

// packed[g]: the jobs that GPU g gets.
std::vector<std::vector<Sized>> pack(const State& state, std::vector<Sized> sized) {
  std::stable_sort(sized.begin(), sized.end(),
                   [](const Sized& a, const Sized& b) { return a.size > b.size; });
  std::vector<std::vector<Sized>> packed(state.gpus.size());
  for (Sized s : sized) {
    for (bool placed = false; !placed && s.size != 0;) {
      for (std::size_t g = 0; g < state.gpus.size() && !placed; ++g) {
        const Gpu& gpu = state.gpus[g];
        if (!gpu.up || !runs_at(state, s.job, *gpu.board, s.size)) continue;
        std::vector<int> sizes = sizes_only(packed[g]);
        sizes.push_back(s.size);
        if (!legal_set_with(*gpu.board, fixed_slots(state, static_cast<int>(g)), sizes)) continue;
        packed[g].push_back(s);
        placed = true;
      }
      if (!placed) s.size = next_smaller(state, s.job, s.size);
    }
  }
  return packed;
}

// Slots of the target with that size that packing filled, by first memory slice.
std::vector<int> slots_of_size(const State& state, int g, int size, SlotSet fixed) {
  const Gpu& gpu = state.gpus[g];
  std::vector<int> slots;
  for (int start = 0; start < gpu.board->memory_slices; ++start) {
    for (int slot = 0; slot < static_cast<int>(gpu.board->slots.size()); ++slot) {
      const Slot& s = gpu.board->slots[slot];
      if (s.start != start || s.profile != gpu.board->base_profile(size)) continue;
      if (((gpu.target >> slot) & 1) != 0 && ((fixed >> slot) & 1) == 0) slots.push_back(slot);
    }
  }
  return slots;
}

// Who gets which slice of the target of a GPU: first the jobs that are on one of their size already
// (`free` only, elsewhere no job to size is on a slice), then the others in job order.
std::vector<Placement> assign(const State& state, int g, const std::vector<Sized>& packed,
                              SlotSet fixed) {
  std::vector<Placement> placements;
  for (int size : kSizes) {
    std::vector<int> slots = slots_of_size(state, g, size, fixed);
    std::vector<int> moving;
    for (const Sized& s : packed) {
      if (s.size != size) continue;
      const JobState& job = state.jobs[s.job];
      const bool here = job.phase == Phase::kRunning && job.gpu == g;
      if (here && std::erase(slots, job.slot) > 0) {
        placements.push_back({s.job, {g, job.slot}});
      } else {
        moving.push_back(s.job);
      }
    }
    std::sort(moving.begin(), moving.end());
    SM_CHECK(moving.size() == slots.size());
    for (std::size_t i = 0; i < moving.size(); ++i)
      placements.push_back({moving[i], {g, slots[i]}});
  }
  return placements;
}

}  // namespace

void decide_greedy(State& state) {
  // Under `free` a job that waits for a slice is as ready as any other.
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    if (is_free(state) && state.jobs[j].phase == Phase::kAwaiting) make_ready(state, j);
  }
  const std::vector<int> ready = jobs_to_size(state);
  const std::vector<std::vector<Sized>> packed = pack(state, choose_sizes(state));

  std::vector<Placement> placements;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    if (packed[g].empty()) continue;
    const SlotSet fixed = fixed_slots(state, g);
    name_target(state, g, *legal_set_with(*state.gpus[g].board, fixed, sizes_only(packed[g])));
    SM_CHECK((state.gpus[g].target & fixed) == fixed);
    for (const Placement& p : assign(state, g, packed[g], fixed)) placements.push_back(p);
  }

  // Every job that does not keep its slice stops, then those that got one wait for it: it may still
  // have to be made.
  const auto keeps_slice = [&](int job) {
    for (const Placement& p : placements) {
      const JobState& j = state.jobs[job];
      if (p.job == job && j.gpu == p.slice.gpu && j.slot == p.slice.slot) return true;
    }
    return false;
  };
  for (int job : ready) {
    if (state.jobs[job].phase == Phase::kRunning && !keeps_slice(job)) stop_job_free(state, job);
  }
  for (const Placement& p : placements) {
    JobState& job = state.jobs[p.job];
    if (job.phase == Phase::kRunning) continue;
    job.phase = Phase::kAwaiting;
    job.gpu = p.slice.gpu;
    job.slot = p.slice.slot;
  }
}

}  // namespace smartmig::reference
