// "On demand": slices made for each job and destroyed at its end.
#include <algorithm>
#include <limits>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

const OnDemandWords& words(const State& state) { return state.setup->on_demand; }

bool runs_at_size(const State& state, int job, int size) {
  return least_full_us(state, job, size) < std::numeric_limits<double>::infinity();
}

// The size a job asks for, before it is seen whether it runs there.
int wanted_size(const State& state, int job) {
  const Job& row = state.setup->jobs->jobs[job];
  const std::vector<int> sizes = fleet_sizes(state);
  if (words(state).request == "asked") {
    for (int size : sizes) {
      // Shares are kept in millionths; 4/7 is not a whole number of them.
      const double slices = 7e-6 * row.request_millionths;
      if (row.request_millionths > 0 && slices <= size + 1e-5 + 1e-9) return size;
    }
  } else if (words(state).request == "on-time") {
    for (int size : sizes) {
      if (!runs_at_size(state, job, size)) continue;
      const TimeUs time_us = remaining_us(state, job, least_full_us(state, job, size));
      if (row.submit_us + time_us <= row.deadline_us) return size;
    }
  } else {
    const auto named = words(state).sizes.find(row.profile);
    if (named != words(state).sizes.end()) return named->second;
  }
  return sizes.back();
}

// Where it does not run there: the next larger size on which it does, else the next smaller; 0: it
// runs on none.
int request(const State& state, int job) {
  const int wanted = wanted_size(state, job);
  int smaller = 0;
  for (int size : fleet_sizes(state)) {
    if (!runs_at_size(state, job, size)) continue;
    if (size >= wanted) return size;
    smaller = size;
  }
  return smaller;
}

bool overlap(const Board& board, int a, int b) {
  const Slot& x = board.slots[a];
  const Slot& y = board.slots[b];
  return x.start < y.start + y.width && y.start < x.start + x.width;
}

bool is_queued(const Gpu& gpu, int slot) {
  return std::any_of(gpu.queue.begin(), gpu.queue.end(),
                     [&](const Queued& q) { return q.slot == slot; });
}

// There, without a job, promised to none, and not about to be destroyed.
bool is_idle(const State& state, Slice slice) {
  const Gpu& gpu = state.gpus[slice.gpu];
  if (!gpu.up || ((gpu.present >> slice.slot) & 1) == 0 || is_queued(gpu, slice.slot)) return false;
  if (gpu.operation && gpu.operation->slot == slice.slot) return false;
  return job_on(state, slice) < 0 && job_awaiting(state, slice) < 0;
}

// Slots of a GPU that exist, are being made or destroyed, or are promised; without idle ones if
// these do not count.
std::vector<int> taken_slots(const State& state, int g, bool idle_count) {
  const Gpu& gpu = state.gpus[g];
  std::vector<int> taken;
  for (int slot = 0; slot < static_cast<int>(gpu.board->slots.size()); ++slot) {
    const bool under_way = gpu.operation && gpu.operation->slot == slot;
    if (((gpu.present >> slot) & 1) == 0 && !under_way && !is_queued(gpu, slot)) continue;
    if (idle_count || !is_idle(state, {g, slot})) taken.push_back(slot);
  }
  return taken;
}

bool is_free_place(const Board& board, const std::vector<int>& taken, int slot) {
  return std::none_of(taken.begin(), taken.end(),
                      [&](int other) { return overlap(board, slot, other); });
}

int memory_taken(const Board& board, const std::vector<int>& taken) {
  int count = 0;
  for (int at = 0; at < board.memory_slices; ++at) {
    count += std::any_of(taken.begin(), taken.end(), [&](int slot) {
      const Slot& s = board.slots[slot];
      return s.start <= at && at < s.start + s.width;
    });
  }
  return count;
}

// What the fit makes least.
int rank(const State& state, const Board& board, const std::vector<int>& taken, int slot) {
  const std::string& fit = words(state).fit;
  if (fit == "first") return 0;
  if (fit == "pack") return -memory_taken(board, taken);
  if (fit == "spread") return memory_taken(board, taken);
  int blocked = 0;
  for (int other = 0; other < static_cast<int>(board.slots.size()); ++other) {
    const Profile& profile = board.profiles[board.slots[other].profile];
    if (profile.kind != ProfileKind::kBase) continue;
    if (is_free_place(board, taken, other) && overlap(board, slot, other))
      blocked += profile.compute_slices;
  }
  return blocked;
}

std::optional<Slice> find_place(const State& state, int job, int size, bool idle_count) {
  std::optional<Slice> best;
  int best_rank = 0;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Board& board = *state.gpus[g].board;
    const int base = board.base_profile(size);
    if (!state.gpus[g].up || base < 0 || !runs_on(state, job, board.profiles[base])) continue;
    const std::vector<int> taken = taken_slots(state, g, idle_count);
    for (int start = 0; start < board.memory_slices; ++start) {
      for (int slot = 0; slot < static_cast<int>(board.slots.size()); ++slot) {
        if (board.slots[slot].start != start || board.slots[slot].profile != base) continue;
        if (!is_free_place(board, taken, slot)) continue;
        const int r = rank(state, board, taken, slot);
        if (best && r >= best_rank) continue;
        best = Slice{g, slot};
        best_rank = r;
      }
    }
  }
  return best;
}

// Behind all that was queued before; what is made at this instant waits for it.
void queue_destruction(State& state, Slice slice) {
  std::vector<Queued>& queue = state.gpus[slice.gpu].queue;
  std::size_t at = 0;
  while (at < queue.size() && !(queue[at].create && queue[at].since_us == state.now_us)) ++at;
  queue.insert(queue.begin() + static_cast<std::ptrdiff_t>(at), {false, slice.slot, state.now_us});
}

std::vector<Slice> idle_slices(const State& state) {
  std::vector<Slice> idle;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Board& board = *state.gpus[g].board;
    for (int start = 0; start < board.memory_slices; ++start) {
      for (int slot = 0; slot < static_cast<int>(board.slots.size()); ++slot) {
        if (board.slots[slot].start == start && is_idle(state, {g, slot}))
          idle.push_back({g, slot});
      }
    }
  }
  return idle;
}

void promise(State& state, int job, Slice slice) {
  state.jobs[job].phase = Phase::kAwaiting;
  state.jobs[job].gpu = slice.gpu;
  state.jobs[job].slot = slice.slot;
}

bool serve(State& state, int job) {
  const int size = request(state, job);
  const bool keep = words(state).keep;
  if (keep) {
    for (Slice slice : idle_slices(state)) {
      const Profile& profile = profile_of(state, slice);
      if (profile.kind != ProfileKind::kBase || profile.compute_slices != size) continue;
      if (!runs_on(state, job, slice)) continue;
      promise(state, job, slice);
      return true;
    }
  }
  std::optional<Slice> place = find_place(state, job, size, true);
  if (!place && keep) {
    place = find_place(state, job, size, false);
    if (place) {
      for (Slice slice : idle_slices(state)) {
        if (slice.gpu == place->gpu &&
            overlap(*state.gpus[slice.gpu].board, slice.slot, place->slot))
          queue_destruction(state, slice);
      }
    }
  }
  if (!place) return false;
  state.gpus[place->gpu].queue.push_back({true, place->slot, state.now_us});
  promise(state, job, *place);
  return true;
}

// All operations of a GPU that begin at one instant are one repartition.
void count_repartition(State& state, Gpu& gpu) {
  if (!gpu.repartitioned_now) ++state.outcome.repartitions;
  gpu.repartitioned_now = true;
}

}  // namespace

void work_off_queues(State& state) {
  for (Gpu& gpu : state.gpus) {
    while (gpu.up && !gpu.operation && !gpu.queue.empty()) {
      const Queued next = gpu.queue.front();
      gpu.queue.erase(gpu.queue.begin());
      const SlotSet bit = SlotSet{1} << next.slot;
      gpu.target = next.create ? gpu.target | bit : gpu.target & ~bit;
      count_repartition(state, gpu);
      const Profile& profile = gpu.board->profiles[gpu.board->slots[next.slot].profile];
      const int size = size_index(profile.compute_slices);
      const TimeUs takes_us =
          next.create ? gpu.board->times.create_us[size] : gpu.board->times.destroy_us[size];
      const bool timed = state.setup->costs.timed_operations;
      gpu.operation = Operation{next.create, next.slot, state.now_us + (timed ? takes_us : 0)};
      if (gpu.operation->end_us == state.now_us) end_operation(gpu);
    }
  }
}

void decide_on_demand(State& state) {
  for (Gpu& gpu : state.gpus) {
    if (!gpu.failed_now || gpu.target == 0) continue;
    gpu.target = 0;
    count_repartition(state, gpu);
  }
  if (!words(state).keep) {
    for (Slice slice : idle_slices(state)) queue_destruction(state, slice);
  }
  work_off_queues(state);
  for (int job = 0; job < static_cast<int>(state.jobs.size()); ++job) {
    if (state.jobs[job].phase != Phase::kReady || request(state, job) == 0) continue;
    if (!serve(state, job) && words(state).strict) break;
  }
  work_off_queues(state);
}

}  // namespace smartmig::reference
