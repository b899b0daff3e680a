// A random case as the slow reference takes it.
#pragma once

#include "random_case.h"
#include "reference/reference.h"

namespace smartmig {

inline reference::Setup to_setup(const RandomCase& random, const Fleet& fleet, const Costs& costs) {
  reference::Setup setup;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) setup.gpus.push_back(&fleet.board(gpu));
  setup.jobs = &random.jobs;
  setup.partitioner = random.partitioner;
  setup.placer = random.placer;
  setup.layouts = random.layouts;
  setup.times_us = random.times_us;
  setup.on_demand = {random.request, random.sizes, random.fit, random.strict, random.keep};
  setup.profile_us = random.profile_us;
  setup.preemption = random.preemption == Preemption::kFree ? reference::Preemption::kFree
                     : random.preemption == Preemption::kCheckpoint
                         ? reference::Preemption::kCheckpoint
                         : reference::Preemption::kNone;
  setup.costs.timed_operations = costs.operation_scale > 0;
  setup.costs.deadline_cut_us = costs.deadline_cut_us;
  setup.costs.start_us = costs.start_us;
  for (int kind = 0; kind < 2; ++kind) {
    setup.costs.checkpoint_us[kind] = TimeUs{costs.checkpoint_ms[kind]} * 1000;
    setup.costs.restore_us[kind] = TimeUs{costs.restore_ms[kind]} * 1000;
  }
  setup.costs.job_columns = costs.save_restore;
  setup.costs.real_power = costs.real_power;
  for (const GpuEvent& event : random.events) {
    setup.events.push_back({event.at_us, static_cast<int>(event.gpu), event.fail});
  }
  setup.estimate_sigma = random.sigma;
  return setup;
}

}  // namespace smartmig
