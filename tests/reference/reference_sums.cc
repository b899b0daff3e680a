// "What is summed up", by looking at every job and GPU.
#include <algorithm>
#include <limits>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

// Minutes, as the papers write them.
constexpr double kEdges[] = {-100, 0, .05, .2, .5, 1, 5, 10, 20, 30};

int bin_of(double us) {
  int bin = 0;
  for (int b = 0; b < 10; ++b) {
    if (us >= kEdges[b] * 60e6) bin = b;
  }
  return bin;
}

// `on-demand`: the creation of the job's slice has not begun.
bool is_only_queued(const State& state, const JobState& job) {
  if (job.phase != Phase::kAwaiting) return false;
  for (const Queued& queued : state.gpus[job.gpu].queue) {
    if (queued.create && queued.slot == job.slot) return true;
  }
  return false;
}

bool is_ready(const State& state, const JobState& job) {
  const Phase phase = job.phase;
  if (state.setup->preemption != Preemption::kFree)
    return phase == Phase::kReady || is_only_queued(state, job);
  return phase == Phase::kReady || phase == Phase::kRunning || phase == Phase::kAwaiting;
}

// The mean over those of the two sizes on which the job runs; infinite if on none.
double mean_full_us(const State& state, int job, int a, int b) {
  double sum = 0;
  int count = 0;
  for (const int size : {a, b}) {
    const double full = least_full_us(state, job, size);
    if (full == std::numeric_limits<double>::infinity()) continue;
    sum += full;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::infinity() : sum / count;
}

}  // namespace

Sums sum_up(const State& state) {
  Sums sums;
  sums.at_us = state.now_us;
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const JobState& job = state.jobs[j];
    if (job.phase == Phase::kFuture) continue;
    const TimeUs end_us = job.phase == Phase::kDone ? state.outcome.finish_us[j] : state.now_us;
    sums.tardiness_us += std::max<TimeUs>(0, end_us - job.deadline_us);
    if (!is_ready(state, job)) continue;
    const int largest = fleet_sizes(state).back();
    const double left = job.factor * job.believed_left;
    ++sums.bins[0][bin_of(static_cast<double>(job.deadline_us - state.now_us))];
    ++sums.bins[1][bin_of(left * mean_full_us(state, j, 1, 2))];
    ++sums.bins[2][bin_of(left * mean_full_us(state, j, 3, 4))];
    ++sums.bins[3][bin_of(left * least_full_us(state, j, largest))];
  }
  for (const Gpu& gpu : state.gpus) {
    if (gpu.up) ++sums.layouts[{gpu.board->name, layout_name(*gpu.board, gpu.target)}];
  }
  return sums;
}

}  // namespace smartmig::reference
