// Random small cases for the engine: a fleet, a job table, a policy, costs, preemption, failures.
// Numbers are chosen so that ties, equal instants, tight deadlines and jobs that fit only some
// slices are common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "case_count.h"
#include "fleet/costs.h"
#include "sim/engine.h"
#include "workload/job.h"

namespace smartmig {

struct RandomCase {
  std::string fleet;
  std::string policy;
  std::string partitioner;
  std::string placer;  // "" with joint policies
  std::vector<std::vector<std::string>> layouts;
  std::vector<TimeUs> times_us;
  // Of on-demand: asked, on-time or by-profile; sizes by index of the speed profile; the fit.
  std::string request;
  std::map<int, int> sizes;
  std::string fit = "room";
  bool strict = false;
  bool keep = false;
  TimeUs profile_us = 0;  // Of miso.
  std::string costs;
  TimeUs start_us = 0;  // Costs::start_us.
  Preemption preemption = Preemption::kFree;
  double sigma = 0;
  JobTable jobs;
  std::vector<GpuEvent> events;

  std::string describe() const;
};

// Case number `number` of a seed: the same on every machine. Empty strings leave the choice to
// chance.
RandomCase random_case(std::uint64_t seed, std::uint64_t number, std::string_view policy_kind = "");

// All kinds of policies that random_case() chooses from and the reference has: "none/edf",
// "static/cedf", "greedy", ... Not the learned ones, which a test names itself.
std::vector<std::string> policy_kinds();

// What the case says, for an engine.
EngineOptions engine_options(const RandomCase& random);

}  // namespace smartmig
