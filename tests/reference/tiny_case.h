// Small cases for the tests of the reference, in seconds.
#pragma once

#include <string>
#include <vector>

#include "reference/reference.h"

namespace smartmig::reference {

inline const Board* board(const std::string& name = "A100-40GB") {
  return *BoardTable::shipped().find(name);
}

// Times on 1g, 2g, 3g, 4g, 7g; 0: does not run there.
inline Job job(double submit_s, double deadline_s, const std::array<double, kSizeCount>& times_s) {
  Job j;
  j.submit_us = to_us(submit_s);
  j.deadline_us = to_us(deadline_s);
  for (int i = 0; i < kSizeCount; ++i) j.time_us[i] = to_us(times_s[i]);
  return j;
}

inline Job training(double submit_s, double deadline_s,
                    const std::array<double, kSizeCount>& times_s) {
  Job j = job(submit_s, deadline_s, times_s);
  j.kind = JobKind::kTraining;
  return j;
}

inline Costs paper_costs() {
  Costs costs;
  costs.deadline_cut_us = 4 * kSecondUs;
  return costs;
}

inline Costs real_costs() {
  Costs costs;
  costs.timed_operations = true;
  costs.checkpoint_us[1] = 5 * kSecondUs;
  costs.restore_us[1] = 10 * kSecondUs;
  costs.job_columns = true;
  costs.real_power = true;
  return costs;
}

// A setup with its jobs, so that a test can change either before it runs.
struct TinyCase {
  JobTable table;
  Setup setup;

  TinyCase(int gpus, std::vector<Job> jobs, std::string partitioner, std::string placer,
           Preemption preemption, Costs costs = {}) {
    table.jobs = std::move(jobs);
    setup.gpus.assign(gpus, board());
    setup.partitioner = std::move(partitioner);
    setup.placer = std::move(placer);
    setup.preemption = preemption;
    setup.costs = costs;
  }

  Outcome run() {
    setup.jobs = &table;
    return reference::run(setup);
  }
};

// A static layout for each GPU.
inline TinyCase static_case(std::vector<std::string> layouts, std::vector<Job> jobs,
                            std::string placer, Preemption preemption, Costs costs = {}) {
  TinyCase c(static_cast<int>(layouts.size()), std::move(jobs), "static", std::move(placer),
             preemption, costs);
  c.setup.layouts = {std::move(layouts)};
  return c;
}

using Finish = std::vector<TimeUs>;

inline Finish seconds(const std::vector<double>& times_s) {
  Finish us;
  for (double s : times_s) us.push_back(to_us(s));
  return us;
}

}  // namespace smartmig::reference
