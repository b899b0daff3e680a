// "Energy": the watts of one board.
#include <algorithm>

#include "reference/state.h"

namespace smartmig::reference {
namespace {

// What one job adds to a board that was measured job by job.
double job_w(const State& state, const JobState& job, const Job& row) {
  const BoardPower& power = state.gpus[job.gpu].board->power;
  const int size = compute_size(state, {job.gpu, job.slot});
  if (row.profile != kNoProfile) {
    const SpeedProfile& profile = Catalogue::shipped().profiles()[row.profile];
    const double measured = profile.watts[size_index(size)];
    if (measured > 0) return measured;
  }
  return power.busy_w[size] - power.busy_w[0];
}

}  // namespace

double power_w(const State& state, int g, TimeUs at_us) {
  const Gpu& gpu = state.gpus[g];
  const BoardPower& power = gpu.board->power;
  const bool real = state.setup->costs.real_power;
  if (!gpu.up) return 0;
  // Under `real` a process that starts only holds its context.
  int busy = 0;
  bool starts = false;
  for (int j = 0; j < static_cast<int>(state.jobs.size()); ++j) {
    const JobState& job = state.jobs[j];
    const bool on = job.phase == Phase::kRunning || job.phase == Phase::kSaving;
    if (!on || job.gpu != g) continue;
    if (!real || works(state, j, at_us)) {
      busy += compute_size(state, {g, job.slot});
    } else {
      starts = true;
    }
  }
  if (busy == 0 && starts) return power.context_idle_w;
  if (busy == 0) {
    const bool lingers = gpu.last_job_us >= 0 && at_us < gpu.last_job_us + power.context_linger_us;
    return real && lingers ? power.context_idle_w : power.busy_w[0];
  }
  if (!real || !power.additive) return power.busy_w[busy];
  double watts = power.context_idle_w;
  for (std::size_t j = 0; j < state.jobs.size(); ++j) {
    const JobState& job = state.jobs[j];
    const bool on = job.phase == Phase::kRunning || job.phase == Phase::kSaving;
    if (on && job.gpu == g && works(state, static_cast<int>(j), at_us))
      watts += job_w(state, job, state.setup->jobs->jobs[j]);
  }
  return std::min(power.cap_w, watts);
}

}  // namespace smartmig::reference
