#include "bound/linearised.h"

#include <algorithm>
#include <cmath>

#include "bound/makespan.h"

namespace smartmig {

double linearised_energy_j(const BoundInput& input) {
  const Fleet& fleet = *input.fleet;
  const std::vector<MachineJob> jobs = linearise(input);
  const double end_s = input.trace ? to_s(input.trace->span_us())
                                   : least_makespan_s(jobs, static_cast<int>(fleet.gpu_count()));
  double idle_w = 0;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) idle_w += fleet.board(gpu).power.busy_w[0];
  int compute = 0;
  double slice_w = HUGE_VAL;
  for (const Board* board : fleet.boards()) {
    compute = std::max(compute, board->compute_slices);
    const std::vector<double>& watts = board->power.busy_w;
    slice_w = std::min(slice_w, (watts.back() - watts.front()) / board->compute_slices);
  }
  double work_s = 0;
  for (const MachineJob& job : jobs) work_s += job.work_s;
  return idle_w * end_s + slice_w * compute * work_s;
}

bool linearised_energy_applies(const BoundInput& input) {
  bool by_job = false;
  for (const Board* board : input.fleet->boards())
    by_job = by_job || (input.costs->real_power && board->power.additive);
  return !input.costs->power_down_after_us && input.events.empty() && !by_job;
}

}  // namespace smartmig
