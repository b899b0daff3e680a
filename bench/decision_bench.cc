// Time of one decision of a joint policy, carrying it out not counted: one JSON object out.
//   bench_decision POLICY GPUS READY DECISIONS free|checkpoint
// READY jobs of the papers' kinds are there from the start and more arrive all the time; under
// `free` costs are free, else real.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "policy/registry.h"
#include "sim/engine.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

JobTable jobs_for(int gpus, int ready, int decisions) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 0.4 * gpus;  // About what the fleet can do.
  options.count = ready + decisions;
  JobTable jobs = generate(options);
  const TimeUs from = jobs.jobs[ready].submit_us;
  for (Job& job : jobs.jobs) {
    const TimeUs late = std::max<TimeUs>(0, job.submit_us - from);
    job.deadline_us += late - job.submit_us;
    job.submit_us = late;
  }
  return jobs;
}

int run(const char* spec, int gpus, int ready, int decisions, Preemption preemption) {
  const Fleet fleet = Fleet::parse(fmt::format("{}xA100-40GB", gpus)).value();
  const JobTable jobs = jobs_for(gpus, ready, decisions);
  EngineOptions options;
  options.preemption = preemption;
  if (preemption != Preemption::kFree) options.costs = Costs::real();
  auto policy = make_policy(spec, fleet);
  if (!policy) {
    fmt::print(stderr, "{}\n", policy.error().message);
    return 2;
  }
  Engine engine(fleet, jobs, *policy, options);
  std::vector<SlotSet> layouts;
  policy->partitioner->first_layouts(engine.view(), layouts);
  Decision decision;
  std::vector<double> us;
  double first_us = 0;
  while (static_cast<int>(us.size()) < decisions && engine.advance()) {
    decision.clear();
    if (engine.partitioner_due()) {
      View view = engine.view();
      const auto start = std::chrono::steady_clock::now();
      policy->partitioner->decide(view, decision);
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      // The first one finds an empty fleet and all jobs, and fills it.
      if (first_us == 0) {
        first_us = took.count();
      } else {
        us.push_back(took.count());
      }
    }
    engine.partition(decision);
    engine.place();
  }
  std::sort(us.begin(), us.end());
  const auto at = [&](double q) { return us[static_cast<std::size_t>(q * double(us.size() - 1))]; };
  fmt::print(
      "{{\"policy\": \"{}\", \"gpus\": {}, \"ready\": {}, \"preemption\": \"{}\", \"decisions\": "
      "{}, \"first_us\": {:.1f}, \"median_us\": {:.1f}, \"p99_us\": {:.1f}}}\n",
      spec, gpus, ready, to_string(preemption), us.size(), first_us, at(0.5), at(0.99));
  return 0;
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: bench_decision POLICY GPUS READY DECISIONS free|checkpoint\n");
    return 2;
  }
  const auto preemption = smartmig::parse_preemption(argv[5]);
  if (!preemption) return 2;
  return smartmig::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                       *preemption);
}
