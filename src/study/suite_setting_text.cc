// The texts of suite_setting.h.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "study/suite_setting.h"

namespace smartmig {
namespace {

nlohmann::ordered_json window_json(const TraceJobs& jobs) {
  return {{"begin_s", to_s(jobs.window.begin_us)},
          {"hours", to_s(jobs.window.length_us) / 3600},
          {"max_jobs", jobs.max_jobs},
          {"load", jobs.load},
          {"speeds", jobs.speeds},
          {"training_share", jobs.training_share},
          {"deadlines", to_string(jobs.deadlines)}};
}

std::string describe_window(const TraceJobs& jobs) {
  return fmt::format(
      "{:.3g} h of the trace from hour {:.4g}, load {:.3g}, {} speeds, {:.2g} "
      "training, deadlines {:.3g}:{:.3g}",
      to_s(jobs.window.length_us) / 3600, to_s(jobs.window.begin_us) / 3600, jobs.load, jobs.speeds,
      jobs.training_share, jobs.deadlines.low, jobs.deadlines.high);
}

}  // namespace

nlohmann::ordered_json to_json(const SuiteSetting& setting) {
  nlohmann::ordered_json json = {{"seed", setting.seed},
                                 {"number", setting.number},
                                 {"fleet", setting.fleet},
                                 {"costs", setting.costs},
                                 {"start_s", setting.start_s},
                                 {"preemption", to_string(setting.preemption)},
                                 {"estimate_error", setting.estimate_error},
                                 {"energy_weight", setting.energy_weight}};
  if (const auto* workload = std::get_if<DescribedWorkload>(&setting.jobs)) {
    json["workload"] = to_json(*workload);
  } else {
    json["window"] = window_json(std::get<TraceJobs>(setting.jobs));
  }
  return json;
}

std::string describe(const SuiteSetting& setting) {
  const auto* workload = std::get_if<DescribedWorkload>(&setting.jobs);
  const std::string start =
      setting.costs == kRealWithStart ? fmt::format(" of {:.2g} s", setting.start_s) : "";
  return fmt::format(
      "{}, costs {}{}, preemption {}, estimate error {:g}, energy weight {:.2g}; {}", setting.fleet,
      setting.costs, start, to_string(setting.preemption), setting.estimate_error,
      setting.energy_weight,
      workload ? describe(*workload) : describe_window(std::get<TraceJobs>(setting.jobs)));
}

}  // namespace smartmig
