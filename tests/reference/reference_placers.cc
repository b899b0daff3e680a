// "Placers": the order of the ready jobs, and the slice that each gets.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

// What the choices are made from. `free` shrinks and `busy` grows as jobs are placed.
struct Room {
  const State& state;
  std::vector<Slice> free;  // By index.
  std::vector<int>
      busy;  // Compute slices of each GPU with a job, with what was placed at this instant.
};

TimeUs end_us(const State& state, int job, Slice slice) {
  return state.now_us + delay_us(state, job) + remaining_us(state, job, slice);
}

double full_us(const State& state, int job, Slice slice) {
  const Board& board = *state.setup->gpus[slice.gpu];
  return full_us(state, job, board, board.profiles[board.slots[slice.slot].profile]);
}

bool on_time(const State& state, int job, Slice slice) {
  return end_us(state, job, slice) <= state.jobs[job].deadline_us;
}

// The free slices that the job runs on, by index. Every choice below takes the first of equals, so
// that ties go to the lowest index; -1 or nothing means that there is none.
std::vector<Slice> candidates(const Room& room, int job) {
  std::vector<Slice> slices;
  for (Slice slice : room.free) {
    if (runs_on(room.state, job, slice)) slices.push_back(slice);
  }
  return slices;
}

std::optional<Slice> earliest_end(const Room& room, int job) {
  std::optional<Slice> best;
  for (Slice slice : candidates(room, job)) {
    if (!best || full_us(room.state, job, slice) < full_us(room.state, job, *best)) best = slice;
  }
  return best;
}

// edf's and cedf's choice, GPUs in the given order.
std::optional<Slice> slowest_on_time_by_gpu(const Room& room, int job,
                                            const std::vector<int>& gpu_order) {
  for (int gpu : gpu_order) {
    std::optional<Slice> best;
    for (Slice slice : candidates(room, job)) {
      if (slice.gpu != gpu || !on_time(room.state, job, slice)) continue;
      if (!best || full_us(room.state, job, slice) > full_us(room.state, job, *best)) best = slice;
    }
    if (best) return best;
  }
  return earliest_end(room, job);
}

// GPU indices by falling key, ties lowest index.
std::vector<int> gpus_by_falling(const std::vector<double>& key) {
  std::vector<int> order;
  for (int g = 0; g < static_cast<int>(key.size()); ++g) order.push_back(g);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] > key[b]; });
  return order;
}

std::vector<int> gpus_by_occupied_fraction(const Room& room) {
  std::vector<double> fraction;
  for (std::size_t g = 0; g < room.busy.size(); ++g) {
    fraction.push_back(static_cast<double>(room.busy[g]) /
                       static_cast<double>(room.state.gpus[g].board->compute_slices));
  }
  return gpus_by_falling(fraction);
}

// All slices of a GPU that are there and not doomed count, occupied ones too.
std::vector<int> gpus_by_mean_size(const Room& room) {
  std::vector<double> mean;
  for (int g = 0; g < static_cast<int>(room.state.gpus.size()); ++g) {
    int sum = 0;
    int count = 0;
    for (Slice slice : usable_slices(room.state)) {
      if (slice.gpu != g) continue;
      sum += compute_size(room.state, slice);
      ++count;
    }
    mean.push_back(count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count));
  }
  return gpus_by_falling(mean);
}

std::optional<Slice> least_marginal_et(const Room& room, int job) {
  const State& state = room.state;
  std::optional<Slice> best;
  double best_cost = 0;
  for (Slice slice : candidates(room, job)) {
    const std::vector<double>& power = state.gpus[slice.gpu].board->power.busy_w;
    const int b = room.busy[slice.gpu];
    const int c = compute_size(state, slice);
    const auto until_end = static_cast<double>(end_us(state, job, slice) - state.now_us);
    const auto late = static_cast<double>(
        std::max<TimeUs>(0, end_us(state, job, slice) - state.jobs[job].deadline_us));
    const double cost =
        state.setup->energy_weight * (power[b + c] - power[b]) * until_end / 6e7 + late / 6e7;
    if (!best || cost < best_cost) {
      best = slice;
      best_cost = cost;
    }
  }
  return best;
}

std::optional<Slice> smallest_on_time(const Room& room, int job) {
  std::optional<Slice> best;
  for (Slice slice : candidates(room, job)) {
    if (!on_time(room.state, job, slice)) continue;
    if (!best || compute_size(room.state, slice) < compute_size(room.state, *best)) best = slice;
  }
  return best ? best : earliest_end(room, job);
}

std::optional<Slice> largest(const Room& room, int job) {
  std::optional<Slice> best;
  for (Slice slice : candidates(room, job)) {
    if (!best || compute_size(room.state, slice) > compute_size(room.state, *best)) best = slice;
  }
  return best;
}

std::optional<Slice> smallest(const Room& room, int job) {
  std::optional<Slice> best;
  for (Slice slice : candidates(room, job)) {
    if (!best || compute_size(room.state, slice) < compute_size(room.state, *best)) best = slice;
  }
  return best;
}

std::optional<Slice> first_fit(const Room& room, int job) {
  const std::vector<Slice> slices = candidates(room, job);
  if (slices.empty()) return std::nullopt;
  return slices.front();
}

std::optional<Slice> any(const Room& room, int job, Random& random) {
  const std::vector<Slice> slices = candidates(room, job);
  if (slices.empty()) return std::nullopt;
  return slices[random.below(slices.size())];
}

double speed(const State& state, int job, int size) { return 1 / least_full_us(state, job, size); }

int job_class(const State& state, int job) {
  const int top = fleet_sizes(state).back();
  const double enough = .8 * speed(state, job, top);
  if (speed(state, job, 4) < enough) return 1;
  if (speed(state, job, 2) < enough) return 2;
  if (speed(state, job, 1) < enough) return 3;
  return 4;
}

// On the largest size of the fleet that it runs on; a job that runs nowhere comes last, which
// nobody can see.
TimeUs remaining_on_largest(const State& state, int job) {
  TimeUs remaining = kNever;
  for (int size : fleet_sizes(state)) {
    const double full = least_full_us(state, job, size);
    if (full < std::numeric_limits<double>::infinity()) remaining = remaining_us(state, job, full);
  }
  return remaining;
}

// max(0, slack) over twice the mean time that the ready jobs need, and the logarithm of its own.
double apparent_tardiness(const State& state, const std::vector<int>& ready, int job) {
  double sum = 0;
  int count = 0;
  for (int other : ready) {
    const TimeUs remaining = remaining_on_largest(state, other);
    if (remaining == kNever) continue;  // It runs nowhere.
    sum += static_cast<double>(remaining);
    ++count;
  }
  const auto own = static_cast<double>(remaining_on_largest(state, job));
  const TimeUs until_us = state.jobs[job].deadline_us - state.now_us - delay_us(state, job);
  const double slack = static_cast<double>(until_us) - own;
  return std::max(0., slack) / (2 * sum / count) + std::log(own);
}

// The ready jobs in the placer's order; the sort is stable and `ready` ascends, so that ties go to
// the lower index.
std::vector<int> in_order(const Room& room, const std::vector<int>& ready) {
  const State& state = room.state;
  const std::string& placer = state.setup->placer;
  std::vector<int> order = ready;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (placer == "shortest-remaining")
      return remaining_on_largest(state, a) < remaining_on_largest(state, b);
    if (placer == "apparent-tardiness")
      return apparent_tardiness(state, ready, a) < apparent_tardiness(state, ready, b);
    if (placer == "cedf" && job_class(state, a) != job_class(state, b))
      return job_class(state, a) < job_class(state, b);
    return state.jobs[a].deadline_us < state.jobs[b].deadline_us;
  });
  return order;
}

std::optional<Slice> choose(const Room& room, int job, Random& random) {
  const std::string& placer = room.state.setup->placer;
  if (placer == "edf") return slowest_on_time_by_gpu(room, job, gpus_by_occupied_fraction(room));
  if (placer == "cedf" || placer == "shortest-remaining" || placer == "apparent-tardiness")
    return slowest_on_time_by_gpu(room, job, gpus_by_mean_size(room));
  if (placer == "met") return least_marginal_et(room, job);
  if (placer == "random") return any(room, job, random);
  if (placer == "slowest-on-time") return smallest_on_time(room, job);
  if (placer == "earliest-finish") return earliest_end(room, job);
  if (placer == "largest-first") return largest(room, job);
  if (placer == "smallest-first") return smallest(room, job);
  SM_CHECK(placer == "first-fit");
  return first_fit(room, job);
}

}  // namespace

std::vector<Placement> place(State& state, const std::vector<int>& ready,
                             const std::vector<Slice>& free) {
  Room room{state, free, {}};
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    // Under `free` every slice is free again, so nothing is busy before the first job is placed.
    const bool all_free = state.setup->preemption == Preemption::kFree;
    room.busy.push_back(all_free ? 0 : busy_compute_slices(state, g));
  }
  std::vector<Placement> placements;
  for (int job : in_order(room, ready)) {
    if (room.free.empty()) break;
    const std::optional<Slice> slice = choose(room, job, state.random_placer);
    if (!slice) continue;
    placements.push_back({job, *slice});
    room.busy[slice->gpu] += compute_size(state, *slice);
    std::erase_if(room.free, [&](Slice other) {
      return other.gpu == slice->gpu && other.slot == slice->slot;
    });
  }
  return placements;
}

}  // namespace smartmig::reference
