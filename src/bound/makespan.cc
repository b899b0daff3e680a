#include "bound/makespan.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace smartmig {
namespace {

constexpr double kSame_s = 1e-9;  // Levels closer than this are one: a thousandth of a microsecond.

// Longest remaining first. The jobs at the highest levels have a machine each and fall at full
// speed; below them is a group of equal jobs that shares the machines left over; all others rest.
//
// Invariants: 1. whole_ is above group level, that above resting_; 2. whole_ has at most `machines`
// members; 3. where there is no group, nothing rests.
class LongestFirst {
 public:
  explicit LongestFirst(int machines) : machines_(static_cast<std::size_t>(machines)) {}

  void add(double work_s) {
    if (group_size_ == 0) {
      whole_.push(work_s + fallen_s_);
    } else if (work_s > group_s_ + kSame_s) {
      whole_.push(work_s + fallen_s_);
    } else if (work_s >= group_s_ - kSame_s) {
      ++group_size_;
    } else {
      resting_.push({work_s, 1});
    }
    if (whole_.size() > machines_) {
      // The shortest of them shares from now on, and what shared until now rests.
      if (group_size_ > 0) resting_.push({group_s_, group_size_});
      group_s_ = whole_.top() - fallen_s_;
      group_size_ = 1;
      whole_.pop();
    }
  }

  // Works for at most `most_s` seconds; returns how long it was busy.
  double work(double most_s) {
    double done_s = 0;
    while (done_s < most_s) {
      settle();
      if (whole_.empty() && group_size_ == 0) break;
      const double step_s = std::min(next_change_s(), most_s - done_s);
      done_s += step_s;
      fallen_s_ += step_s;
      group_s_ -= group_speed() * step_s;
    }
    return done_s;
  }

 private:
  struct Resting {
    double level_s;
    std::size_t count;
    friend bool operator<(const Resting& a, const Resting& b) { return a.level_s < b.level_s; }
  };

  double group_speed() const {
    if (group_size_ == 0) return 0;
    return static_cast<double>(machines_ - whole_.size()) / static_cast<double>(group_size_);
  }
  double lowest_whole_s() const { return whole_.top() - fallen_s_; }

  // Levels that have met become one group, a group small enough gets whole machines, what is done
  // goes.
  void settle() {
    for (;;) {
      if (group_size_ == 0 && !resting_.empty()) {
        group_s_ = resting_.top().level_s;
        group_size_ = resting_.top().count;
        resting_.pop();
      }
      if (group_size_ > 0 && !whole_.empty() && lowest_whole_s() <= group_s_ + kSame_s) {
        whole_.pop();
        ++group_size_;
      } else if (group_size_ > 0 && !resting_.empty() &&
                 resting_.top().level_s >= group_s_ - kSame_s) {
        group_size_ += resting_.top().count;
        resting_.pop();
      } else if (group_size_ > 0 && group_s_ <= kSame_s) {
        group_size_ = 0;
      } else if (group_size_ > 0 && whole_.size() + group_size_ <= machines_) {
        for (; group_size_ > 0; --group_size_) whole_.push(group_s_ + fallen_s_);
      } else if (group_size_ == 0 && !whole_.empty() && lowest_whole_s() <= kSame_s) {
        whole_.pop();
      } else {
        return;
      }
    }
  }

  double next_change_s() const {
    if (group_size_ == 0) return lowest_whole_s();
    const double speed = group_speed();
    double next_s = HUGE_VAL;
    if (!whole_.empty()) next_s = (lowest_whole_s() - group_s_) / (1 - speed);
    const double below_s = resting_.empty() ? 0 : resting_.top().level_s;
    if (speed > 0) next_s = std::min(next_s, (group_s_ - below_s) / speed);
    return next_s;
  }

  std::size_t machines_;
  double fallen_s_ = 0;  // Of all of whole_ since the beginning: their levels are kept plus this.
  std::priority_queue<double, std::vector<double>, std::greater<>> whole_;
  double group_s_ = 0;
  std::size_t group_size_ = 0;
  std::priority_queue<Resting> resting_;
};

int largest_compute(const Fleet& fleet) {
  int most = 0;
  for (const Board* board : fleet.boards()) most = std::max(most, board->compute_slices);
  return most;
}

// When jobs released from `first` on, of `work_s` seconds together, can be done at the earliest: at
// most one machine for each that is released.
double end_of_suffix_s(std::span<const MachineJob> jobs, std::size_t first, double work_s,
                       int machines) {
  double now_s = jobs[first].release_s;
  double left_s = work_s;
  for (std::size_t i = first; i < jobs.size(); ++i) {
    const double until_s = i + 1 < jobs.size() ? jobs[i + 1].release_s : HUGE_VAL;
    const auto speed = static_cast<double>(std::min<std::size_t>(i + 1 - first, machines));
    if (left_s <= speed * (until_s - now_s)) return now_s + left_s / speed;
    left_s -= speed * (until_s - now_s);
    now_s = until_s;
  }
  return now_s;
}

}  // namespace

std::vector<MachineJob> linearise(const BoundInput& input) {
  const Fleet& fleet = *input.fleet;
  const int compute = largest_compute(fleet);
  std::vector<MachineJob> jobs;
  jobs.reserve(input.jobs.size());
  for (const Job& job : input.jobs) {
    double least_us = HUGE_VAL;
    for (KindSet rest = fleet.kinds_for(job); rest; rest &= rest - 1) {
      const auto k = static_cast<KindIndex>(std::countr_zero(rest));
      least_us = std::min(least_us, fleet.full_us(job, k) * fleet.kinds()[k].compute / compute);
    }
    jobs.push_back({to_s(input.released_us(job) - input.begin_us()), least_us / 1e6});
  }
  return jobs;
}

double least_makespan_s(std::span<const MachineJob> jobs, int machines) {
  SM_CHECK(machines > 0);
  LongestFirst longest_first(machines);
  double end_s = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    longest_first.add(jobs[i].work_s);
    const double until_s = i + 1 < jobs.size() ? jobs[i + 1].release_s : HUGE_VAL;
    end_s = jobs[i].release_s + longest_first.work(until_s - jobs[i].release_s);
  }
  return end_s;
}

double earliest_end_s(const BoundInput& input) {
  const Fleet& fleet = *input.fleet;
  double end_s = 0;
  for (const Job& job : input.jobs) {
    double fastest_us = HUGE_VAL;
    for (KindSet rest = fleet.kinds_for(job); rest; rest &= rest - 1) {
      const auto k = static_cast<KindIndex>(std::countr_zero(rest));
      fastest_us = std::min(fastest_us, fleet.full_us(job, k));
    }
    const double from_s = to_s(input.released_us(job) - input.begin_us());
    end_s = std::max(end_s, from_s + fastest_us / 1e6);
  }
  // Any set of jobs will do: all of the last thousand suffixes, and a thousand of the others.
  constexpr std::size_t kSuffixes = 1000;
  const std::vector<MachineJob> jobs = linearise(input);
  const std::size_t stride = std::max<std::size_t>(1, jobs.size() / kSuffixes);
  double work_s = 0;
  for (std::size_t first = jobs.size(); first-- > 0;) {
    work_s += jobs[first].work_s;
    if (jobs.size() - first > kSuffixes && first % stride != 0) continue;
    const int machines = static_cast<int>(fleet.gpu_count());
    end_s = std::max(end_s, end_of_suffix_s(jobs, first, work_s, machines));
  }
  return end_s;
}

}  // namespace smartmig
