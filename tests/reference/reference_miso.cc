// "MISO": jobs are spread over the GPUs; each GPU takes the layout with the most speed for its
// jobs.
#include <algorithm>
#include <cmath>
#include <functional>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

// The jobs that went to the GPU, in order.
std::vector<int> jobs_at(const State& state, int g) {
  std::vector<int> jobs;
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    if (state.jobs[j].home == g) jobs.push_back(j);
  }
  return jobs;
}

// What a slice of each size is worth to the job: millionths of its speed on the largest base
// profile of the board on which it runs.
std::map<int, long> worth_on(const State& state, int job, const Board& board) {
  std::map<int, TimeUs> times;
  for (int size : kSizes) {
    const int base = board.base_profile(size);
    if (base < 0 || !runs_on(state, job, board.profiles[base])) continue;
    times[size] = remaining_us(state, job, full_us(state, job, board, board.profiles[base]));
  }
  std::map<int, long> worth;
  for (const auto& [size, time_us] : times) {
    const double speed = static_cast<double>(times.rbegin()->second) / static_cast<double>(time_us);
    worth[size] = static_cast<long>(std::floor(speed * 1e6 + 0.5));
  }
  return worth;
}

struct Choice {
  SlotSet set = 0;
  std::vector<int> slots;  // One for each job.
  long worth = -1;
  int keeps = 0;
};

// Slots of a set by first memory slice.
std::vector<int> slots_by_start(const Board& board, SlotSet set) {
  std::vector<int> slots;
  for (int start = 0; start < board.memory_slices; ++start) {
    for (int slot = 0; slot < static_cast<int>(board.slots.size()); ++slot) {
      if (((set >> slot) & 1) != 0 && board.slots[slot].start == start) slots.push_back(slot);
    }
  }
  return slots;
}

// Maximal sets in order of their layout's number.
std::vector<SlotSet> numbered_sets(const Board& board) {
  std::vector<SlotSet> sets;
  for (SlotSet layout : layouts(board, base_slots(board))) {
    for (SlotSet set : maximal_sets(board, base_slots(board))) {
      if (same_layout(board, set, layout)) sets.push_back(set);
    }
  }
  return sets;
}

struct Member {
  std::map<int, long> worth;
  int given = -1;
};

// All maximal sets and all assignments, one after the other; the first of equals stands.
std::optional<Choice> best_choice(const Gpu& gpu, const std::vector<Member>& members) {
  const Board& board = *gpu.board;
  std::optional<Choice> best;
  for (SlotSet set : gpu.maximal_sets) {
    const std::vector<int> slots = slots_by_start(board, set);
    Choice now;
    now.set = set;
    now.worth = 0;
    const std::function<void(std::size_t)> try_all = [&](std::size_t i) {
      if (i == members.size()) {
        const bool better = !best || now.worth > best->worth ||
                            (now.worth == best->worth && now.keeps > best->keeps);
        if (better) best = now;
        return;
      }
      for (int slot : slots) {
        if (std::find(now.slots.begin(), now.slots.end(), slot) != now.slots.end()) continue;
        const int size = board.profiles[board.slots[slot].profile].compute_slices;
        const auto worth = members[i].worth.find(size);
        if (worth == members[i].worth.end()) continue;
        const bool keeps = members[i].given == slot;
        now.slots.push_back(slot);
        now.worth += worth->second;
        now.keeps += keeps;
        try_all(i + 1);
        now.slots.pop_back();
        now.worth -= worth->second;
        now.keeps -= keeps;
      }
    };
    try_all(0);
  }
  return best;
}

std::vector<Member> members_of(const State& state, int g) {
  std::vector<Member> members;
  for (int j : jobs_at(state, g)) members.push_back({state.jobs[j].worth, state.jobs[j].given});
  return members;
}

// Every job on a slice of one size, the largest of which there are enough.
std::optional<Choice> equal_shares(const Gpu& gpu, const std::vector<Member>& members) {
  for (int size : {7, 4, 3, 2, 1}) {
    std::vector<Member> alike;
    for (const Member& member : members) {
      alike.push_back({{}, member.given});
      if (member.worth.contains(size)) alike.back().worth[size] = 0;
    }
    if (const auto choice = best_choice(gpu, alike)) return choice;
  }
  return std::nullopt;
}

// Of the GPUs on which the job fits beside those that are there, one with the fewest jobs.
int choose_gpu(const State& state, int job) {
  int best = -1;
  std::size_t fewest = 7;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Board& board = *state.gpus[g].board;
    std::vector<Member> members = members_of(state, g);
    if (!state.gpus[g].up || members.size() >= fewest) continue;
    members.push_back({worth_on(state, job, board), -1});
    // Its order among them does not matter for whether there is a layout.
    for (Member& member : members) {
      for (auto& [size, worth] : member.worth) worth = 0;
    }
    if (!best_choice(state.gpus[g], members)) continue;
    fewest = members.size() - 1;
    best = g;
  }
  return best;
}

bool can_stop(const State& state, int job) {
  const Job& row = state.setup->jobs->jobs[job];
  if (state.setup->preemption != Preemption::kCheckpoint) return is_free(state);
  if (row.preemptible == Preemptible::kByKind) return row.kind == JobKind::kTraining;
  return row.preemptible == Preemptible::kYes;
}

// A change has begun, and not all jobs that it gave a slice run there.
bool is_under_way(const State& state, int g) {
  for (int j : jobs_at(state, g)) {
    if (state.jobs[j].given >= 0 && state.jobs[j].phase != Phase::kRunning) return true;
  }
  return false;
}

void carry_out(State& state, int g, const Choice& choice) {
  Gpu& gpu = state.gpus[g];
  const std::vector<int> jobs = jobs_at(state, g);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    JobState& job = state.jobs[jobs[i]];
    const bool leaves = job.phase == Phase::kRunning && job.slot != choice.slots[i];
    job.given = choice.slots[i];
    if (!leaves) continue;
    if (is_free(state)) {
      stop_job_free(state, jobs[i]);
    } else {
      stop_job_saving(state, jobs[i]);
      // A save that takes no time.
      if (job.save_end_us == state.now_us) end_save(state, jobs[i]);
    }
  }
  if (gpu.target == choice.set) return;
  gpu.target = choice.set;
  gpu.repartitioned_now = true;
  ++state.outcome.repartitions;
}

void consider(State& state, int g) {
  Gpu& gpu = state.gpus[g];
  const std::vector<Member> members = members_of(state, g);
  const bool profiles = state.setup->profile_us > 0 && gpu.has_new_job;
  if (!profiles && state.now_us < gpu.profiles_until_us) return;
  std::optional<Choice> choice;
  if (profiles) choice = equal_shares(gpu, members);
  const bool equal = choice.has_value();
  if (!equal) choice = best_choice(gpu, members);
  gpu.due = false;
  if (!choice) return;
  const std::vector<int> jobs = jobs_at(state, g);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int given = members[i].given;
    if (given >= 0 && given != choice->slots[i] && !can_stop(state, jobs[i])) return;
  }
  gpu.has_new_job = false;
  if (equal) {
    gpu.profiles_until_us = state.now_us + state.setup->profile_us;
    gpu.due = true;
  }
  carry_out(state, g, *choice);
}

}  // namespace

void decide_miso(State& state) {
  const int gpu_count = static_cast<int>(state.gpus.size());
  for (Gpu& gpu : state.gpus) {
    if (gpu.maximal_sets.empty()) gpu.maximal_sets = numbered_sets(*gpu.board);
  }
  for (JobState& job : state.jobs) {
    if (job.home < 0) continue;
    const bool lost = state.gpus[job.home].failed_now || !state.gpus[job.home].up;
    if (job.phase != Phase::kDone && !lost) continue;
    state.gpus[job.home].due = true;
    job.home = job.given = -1;
  }
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    JobState& job = state.jobs[j];
    if (job.phase != Phase::kReady || job.home >= 0) continue;
    const int g = choose_gpu(state, j);
    if (g < 0) continue;
    job.home = g;
    job.worth = worth_on(state, j, *state.gpus[g].board);
    state.gpus[g].due = state.gpus[g].has_new_job = true;
  }
  for (int g = 0; g < gpu_count; ++g) {
    if (jobs_at(state, g).empty()) state.gpus[g].due = false;
    if (state.gpus[g].due && state.gpus[g].up && !is_under_way(state, g)) consider(state, g);
  }
  for (JobState& job : state.jobs) {
    if (job.phase != Phase::kReady || job.given < 0) continue;
    job.phase = Phase::kAwaiting;
    job.gpu = job.home;
    job.slot = job.given;
  }
}

// A change that was due while another one was under way is chosen a microsecond after the last job
// of that one has started.
TimeUs next_miso_timer(const State& state) {
  TimeUs next = kNever;
  for (int g = 0; g < static_cast<int>(state.gpus.size()); ++g) {
    const Gpu& gpu = state.gpus[g];
    if (!gpu.due || !gpu.up || jobs_at(state, g).empty() || is_under_way(state, g)) continue;
    const bool waits = !(state.setup->profile_us > 0 && gpu.has_new_job);
    next = std::min(next,
                    waits ? std::max(gpu.profiles_until_us, state.now_us + 1) : state.now_us + 1);
  }
  return next;
}

}  // namespace smartmig::reference
