#include "study/suite_runs.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "study/compare.h"
#include "study/run_days.h"

namespace smartmig {
namespace {

// [et, p99 wait, worst wait] for each day; null for an infinite ET.
nlohmann::json days_to_json(std::span<const DayScore> days) {
  nlohmann::json list = nlohmann::json::array();
  for (const DayScore& day : days) {
    const nlohmann::json et = std::isinf(day.et) ? nlohmann::json() : nlohmann::json(day.et);
    list.push_back({et, day.p99_wait_s, day.worst_wait_s});
  }
  return list;
}

// Up to the first entry that is not one of ours.
std::vector<DayScore> days_from_json(const nlohmann::json& list) {
  std::vector<DayScore> days;
  if (!list.is_array()) return days;
  for (const nlohmann::json& entry : list) {
    const bool known = entry.is_array() && entry.size() == 3 && entry[1].is_number() &&
                       entry[2].is_number() && (entry[0].is_number() || entry[0].is_null());
    if (!known) break;
    DayScore& day = days.emplace_back();
    if (entry[0].is_number()) day.et = entry[0].get<double>();
    day.p99_wait_s = entry[1].get<double>();
    day.worst_wait_s = entry[2].get<double>();
  }
  return days;
}

}  // namespace

SuiteRuns::SuiteRuns(const SuiteWorld& world, const SuiteCache& cache, PolicyDigest policy_digest,
                     int threads)
    : world_(world),
      cache_(cache),
      policy_digest_(std::move(policy_digest)),
      threads_(threads),
      setting_(to_json(world.setting()).dump()) {}

SuiteRuns::OfPolicy& SuiteRuns::find(const std::string& policy) {
  const auto [at, added] = policies_.try_emplace(policy);
  if (added) {
    const std::string key = policy + (policy_digest_ ? policy_digest_(policy) : "");
    at->second.days = days_from_json(cache_.find(setting_, key));
  }
  return at->second;
}

Result<void> SuiteRuns::extend(std::span<const std::string> policies, std::size_t days) {
  // Those that have the same days already run side by side, on tables that they share.
  std::map<std::size_t, std::vector<std::string>> by_days;
  for (const std::string& policy : policies) {
    const std::size_t have = find(policy).days.size();
    if (have < days) by_days[have].push_back(policy);
  }
  for (const auto& [have, group] : by_days) {
    if (const auto ran = run(group, have, days); !ran) return ran;
  }
  return {};
}

Result<void> SuiteRuns::run(std::span<const std::string> policies, std::size_t first,
                            std::size_t end) {
  const auto made = make_policies(world_.settings(), policies);
  if (!made) return pass_on(made);
  DaysToRun days;
  days.first = first;
  days.count = end - first;
  days.source = [this](std::size_t day) { return world_.day(day); };
  days.threads = threads_;
  days.all = true;
  const std::vector<DayRun> runs = run_days(world_.settings(), *made, days);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    OfPolicy& own = policies_[policies[i % policies.size()]];
    DayScore& day = own.days.emplace_back();
    if (runs[i].error) {
      if (own.why_infinite.empty()) own.why_infinite = runs[i].error->message;
      continue;
    }
    day = {runs[i].metrics.et, runs[i].metrics.p99_wait_s, runs[i].metrics.worst_wait_s};
  }
  for (const std::string& policy : policies) {
    const std::string key = policy + (policy_digest_ ? policy_digest_(policy) : "");
    const auto kept = cache_.keep(setting_, key, days_to_json(policies_[policy].days));
    if (!kept) return kept;
  }
  return {};
}

const std::vector<DayScore>& SuiteRuns::scores(const std::string& policy) const {
  return policies_.at(policy).days;
}

const std::string& SuiteRuns::why_infinite(const std::string& policy) const {
  return policies_.at(policy).why_infinite;
}

}  // namespace smartmig
