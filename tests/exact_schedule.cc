#include "exact_schedule.h"

#include <ClpSimplex.hpp>
#include <cmath>

#include "mig/layout.h"

namespace smartmig {
namespace {

// Which kind of slice, on which GPU, each job has; kNone: it does not run.
struct Combination {
  std::vector<std::uint32_t> kind;
  std::vector<GpuIndex> gpu;
  double watts = 0;
  double busy_watts = 0;  // Of the GPUs that have a job.
};

// Whether slices of these profiles fit on the board at once.
bool fits(const Board& board, const std::vector<int>& profiles, SlotSet set = 0,
          std::size_t i = 0) {
  if (i == profiles.size()) return true;
  for (SlotSet rest = board.profile_slots[profiles[i]]; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    if (can_add(board, set, slot) && fits(board, profiles, set | (rest & -rest), i + 1))
      return true;
  }
  return false;
}

class Exact {
 public:
  Exact(const BoundInput& input, const Weights& weights) : input_(input), weights_(weights) {
    enumerate({std::vector<std::uint32_t>(input.jobs.size(), kNone),
               std::vector<GpuIndex>(input.jobs.size(), 0)},
              0);
  }

  double best() {
    order(0, 0, {});
    return best_;
  }

 private:
  using JobSet = std::uint32_t;
  struct Event {
    bool release = true;
    std::size_t job = 0;
  };

  double seconds(std::size_t job) const {
    return to_s(input_.jobs[job].submit_us - input_.jobs[0].submit_us);
  }

  void enumerate(Combination combination, std::size_t job) {
    const Fleet& fleet = *input_.fleet;
    if (job == input_.jobs.size()) {
      combination.watts = combination.busy_watts = 0;
      for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
        std::vector<int> profiles;
        int busy = 0;
        for (std::size_t j = 0; j < job; ++j) {
          if (combination.kind[j] == kNone || combination.gpu[j] != gpu) continue;
          profiles.push_back(fleet.kinds()[combination.kind[j]].profile);
          busy += fleet.kinds()[combination.kind[j]].compute;
        }
        if (!fits(fleet.board(gpu), profiles)) return;
        combination.watts += fleet.board(gpu).power.busy_w[busy];
        if (busy > 0) combination.busy_watts += fleet.board(gpu).power.busy_w[busy];
      }
      combinations_.push_back(combination);
      return;
    }
    enumerate(combination, job + 1);
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      for (KindSet rest = fleet.kinds_for(input_.jobs[job]); rest; rest &= rest - 1) {
        const auto kind = static_cast<std::uint32_t>(std::countr_zero(rest));
        if (fleet.kinds()[kind].board != fleet.board_index(gpu)) continue;
        combination.kind[job] = kind;
        combination.gpu[job] = gpu;
        enumerate(combination, job + 1);
      }
    }
  }

  void order(std::size_t released, JobSet done, std::vector<Event> events) {
    const std::size_t jobs = input_.jobs.size();
    if (std::popcount(done) == static_cast<int>(jobs)) {
      best_ = std::min(best_, solve(events));
      return;
    }
    if (released < jobs) {
      events.push_back({true, released});
      order(released + 1, done, events);
      events.pop_back();
    }
    for (std::size_t j = 0; j < released; ++j) {
      if (done >> j & 1) continue;
      events.push_back({false, j});
      order(released, done | JobSet{1} << j, events);
      events.pop_back();
    }
  }

  // Rows: each job's work; the time of each release after the first; each job's tardiness.
  // Columns: how long each combination lasts before each event; each job's tardiness.
  double solve(const std::vector<Event>& events) const {
    const auto jobs = static_cast<int>(input_.jobs.size());
    ClpSimplex model;
    model.setLogLevel(0);
    const int rows = 3 * jobs;
    model.resize(rows, 0);
    for (int j = 0; j < jobs; ++j) {
      model.setRowBounds(j, 1, 1);
      model.setRowBounds(jobs + j, seconds(j), seconds(j));
      const double due_s = to_s(input_.jobs[j].deadline_us - input_.jobs[0].submit_us);
      model.setRowBounds(2 * jobs + j, -COIN_DBL_MAX, due_s);
    }
    for (int j = 0; j < jobs; ++j) {
      const int row = 2 * jobs + j;
      const double minus = -1;
      model.addColumn(1, &row, &minus, 0, COIN_DBL_MAX, weights_.per_late_s);
    }
    JobSet there = 0;
    std::size_t released = 0;
    for (std::size_t e = 0; e < events.size(); ++e) {
      for (const Combination& combination : combinations_) {
        std::vector<int> index;
        std::vector<double> value;
        bool possible = true;
        for (int j = 0; j < jobs; ++j) {
          if (combination.kind[j] == kNone) continue;
          possible = possible && (there >> j & 1);
          index.push_back(j);
          value.push_back(1e6 / input_.fleet->full_us(input_.jobs[j],
                                                      static_cast<KindIndex>(combination.kind[j])));
        }
        if (!possible) continue;
        // The time passes for every event from this one on.
        for (std::size_t later = e; later < events.size(); ++later) {
          const auto j = static_cast<int>(events[later].job);
          index.push_back((events[later].release ? jobs : 2 * jobs) + j);
          value.push_back(1);
        }
        const bool after_submits = input_.trace && released == input_.jobs.size();
        model.addColumn(
            static_cast<int>(index.size()), index.data(), value.data(), 0, COIN_DBL_MAX,
            weights_.per_joule * (after_submits ? combination.busy_watts : combination.watts));
      }
      released += events[e].release;
      const JobSet bit = JobSet{1} << events[e].job;
      there = events[e].release ? there | bit : there & ~bit;
    }
    model.primal();
    return model.status() == 0 ? model.objectiveValue() : HUGE_VAL;
  }

  const BoundInput& input_;
  Weights weights_;
  std::vector<Combination> combinations_;
  double best_ = HUGE_VAL;
};

}  // namespace

double exact_optimum(const BoundInput& input, const Weights& weights) {
  return Exact(input, weights).best();
}

}  // namespace smartmig
