// For tests: a fleet in given layouts with jobs that have arrived, on which one policy is asked
// once.
#pragma once

#include <string>
#include <vector>

#include "policy/registry.h"

namespace smartmig {

inline constexpr JobKind kTraining = JobKind::kTraining;
inline constexpr double kMinute = 60;  // Seconds.

// Times in seconds on 1g, 2g, 3g, 4g and 7g.
inline Job make_job(const std::array<double, kSizeCount>& times_s, double deadline_s,
                    JobKind kind = JobKind::kInference) {
  Job job;
  for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(times_s[size]);
  job.deadline_us = to_us(deadline_s);
  job.kind = kind;
  return job;
}
inline Job flat_job(double time_s, double deadline_s, JobKind kind = JobKind::kInference) {
  return make_job({time_s, time_s, time_s, time_s, time_s}, deadline_s, kind);
}

class Situation {
 public:
  Situation(std::string_view fleet_spec, std::string_view layouts, std::vector<Job> given_jobs,
            std::string_view policy_spec, Preemption preemption = Preemption::kOff,
            const Costs& costs = Costs::free())
      : fleet(*Fleet::parse(fleet_spec)),
        jobs(std::move(given_jobs)),
        policy(*make_policy(policy_spec, fleet)),
        state(fleet, jobs, options(policy, preemption, costs)) {
    const auto sets = *parse_layout_list(layouts, fleet);
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) state.place_initial(gpu, sets[gpu]);
    state.power().begin(0);
    std::vector<SlotSet> first;
    policy.partitioner->first_layouts(view(), first);
  }

  View view() { return View(state, scratch_); }

  // The job arrives and starts on the slice at that place.
  void run(JobIndex job, GpuIndex gpu, std::uint32_t start) {
    state.arrive(job);
    const SliceId slice = fleet.slice_at(gpu, start);
    state.start({job, slice, state.slice(slice).slot});
  }
  void arrive(JobIndex first, JobIndex last) {
    for (JobIndex job = first; job <= last; ++job) state.arrive(job);
  }

  // What the placer starts, in its order: "job 3 on 0:4@0", GPU, compute size, first memory slice.
  std::vector<std::string> place() {
    View seen = view();
    decide_placement(policy, seen, decision);
    std::vector<std::string> texts;
    for (const Start& start : decision.starts) {
      texts.push_back(fmt::format("job {} on {}", start.job, name(start)));
    }
    return texts;
  }
  // The partitioner decides, and its targets are carried out.
  void partition() {
    View seen = view();
    decide_layouts(policy, seen, decision);
    for (const Repartition& change : decision.repartitions) {
      state.set_target(change.gpu, change.target);
      state.advance(change.gpu);
    }
  }
  std::string name(const Start& start) const {
    const GpuIndex gpu = fleet.gpu_of(start.slice);
    const Board& board = fleet.board(gpu);
    const Slot& slot = board.slots[start.slot];
    return fmt::format("{}:{}@{}", gpu, board.profiles[slot.profile].compute_slices, slot.start);
  }
  // The targets of all GPUs: "7 4-3".
  std::string targets() const {
    std::string text;
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      if (gpu > 0) text += ' ';
      text += layout_name(fleet.board(gpu), state.gpu(gpu).target);
    }
    return text;
  }

 private:
  static State::Options options(const Policy& policy, Preemption preemption, const Costs& costs) {
    State::Options options;
    options.costs = costs;
    options.preemption = preemption;
    options.aggregates = policy.partitioner->wants_aggregates();
    options.correct_beliefs = policy.partitioner->corrects_beliefs();
    if (policy.placer) {
      options.job_order = policy.placer->job_order();
      options.gpu_order = policy.placer->gpu_order();
    }
    return options;
  }

 public:
  Fleet fleet;
  std::vector<Job> jobs;
  Policy policy;
  State state;
  Decision decision;

 private:
  ViewScratch scratch_;
};

}  // namespace smartmig
