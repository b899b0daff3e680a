#include "study/suite.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "study/bound_days.h"

namespace smartmig {
namespace {

// Simple policies that are clearly worse leave the race (docs/formats/suite.md): after a few days
// those far behind, after the least number of days those that are neither the best nor near it.
constexpr std::size_t kRaceDays = 4;
constexpr double kFarBehind = 3;
constexpr double kBehind = 1.2;

// A shorter search than `bound` makes: a tenth of its time for a bound that is a few percent lower.
constexpr int kBoundRounds = 60;
constexpr std::size_t kBoundStretches = 1024;

// One setting while it is run.
struct SettingRun {
  const SuiteWorld& world;
  const SuiteOptions& options;
  const SuiteCache& cache;
  SuiteRuns runs;
  std::vector<std::string> simple;  // Those still in the race.

  std::size_t min_days() const {
    return world.setting().on_trace() ? options.trace_draws : options.min_days;
  }
  std::size_t max_days() const {
    return world.setting().on_trace() ? options.trace_draws : options.max_days;
  }
  std::vector<double> ets(const std::string& policy, std::size_t days) const {
    std::vector<double> values;
    for (std::size_t day = 0; day < days; ++day) values.push_back(runs.scores(policy)[day].et);
    return values;
  }
};

Result<void> race(SettingRun& run, std::size_t days, double factor) {
  if (const auto ran = run.runs.extend(run.simple, days); !ran) return ran;
  std::vector<std::vector<double>> ets;
  for (const std::string& policy : run.simple) ets.push_back(run.ets(policy, days));
  std::vector<std::string> left;
  for (const std::size_t i : still_racing(ets, factor)) left.push_back(run.simple[i]);
  run.simple = std::move(left);
  return {};
}

Result<void> race_simple_policies(SettingRun& run) {
  run.simple = simple_rules();
  const auto fixed = best_static_policies(run.world, run.options.search, run.cache);
  if (!fixed) return pass_on(fixed);
  run.simple.insert(run.simple.end(), fixed->begin(), fixed->end());
  const std::size_t first = std::min(kRaceDays, run.min_days());
  if (const auto raced = race(run, first, kFarBehind); !raced) return raced;
  return race(run, run.min_days(), kBehind);
}

// How many days to look at next: what the interval's width asks for, if it falls with the root of
// their number, within twice the present one; even, so that both halves are alike.
std::size_t more_days(std::size_t days, double half_width_pct, const SettingRun& run) {
  const double wish =
      static_cast<double>(days) * std::pow(half_width_pct / run.options.half_width_pct, 2) * 1.1;
  const double next =
      std::clamp(wish, static_cast<double>(days) + 10, 2.0 * static_cast<double>(days));
  return std::min((static_cast<std::size_t>(next) + 1) / 2 * 2, run.max_days());
}

struct ScoredPolicy {
  SuiteScore score;
  std::vector<std::string> simple;  // What the score's indices mean.
  std::size_t days = 0;
  bool at_limit = false;
  std::string error;
};

Result<ScoredPolicy> score_policy(SettingRun& run, const std::string& policy) {
  ScoredPolicy scored;
  for (scored.days = run.min_days();;) {
    const std::string alone[] = {policy};
    if (const auto ran = run.runs.extend(alone, scored.days); !ran) return pass_on(ran);
    if (const auto ran = run.runs.extend(run.simple, scored.days); !ran) return pass_on(ran);
    const std::vector<double> own = run.ets(policy, scored.days);
    scored.simple.clear();
    std::vector<std::vector<double>> ets;
    const auto finite = [](double et) { return std::isfinite(et); };
    for (const std::string& simple : run.simple) {
      std::vector<double> days = run.ets(simple, scored.days);
      if (!std::ranges::all_of(days, finite)) continue;
      scored.simple.push_back(simple);
      ets.push_back(std::move(days));
    }
    if (ets.empty()) scored.error = "no simple policy runs all jobs";
    if (!std::ranges::all_of(own, finite)) {
      const std::string& why = run.runs.why_infinite(policy);
      scored.error = why.empty() ? "it does not run all jobs" : why;
    }
    if (!scored.error.empty()) return scored;
    scored.score = score(own, ets, run.world.settings().engine.seed);
    const auto width = scored.score.ratio.half_width_pct();
    const bool wide = !width || *width >= run.options.half_width_pct;
    scored.at_limit = wide && !run.world.setting().on_trace();
    if (!wide || scored.days >= run.max_days()) return scored;
    scored.days = more_days(scored.days, width.value_or(1e9), run);
  }
}

struct Waits {
  double p99_s = 0;
  double worst_s = 0;
};
Waits waits_of(const SettingRun& run, const std::string& policy, std::size_t days) {
  Waits waits;
  for (std::size_t day = 0; day < days; ++day) {
    const DayScore& of_day = run.runs.scores(policy)[day];
    waits.p99_s += of_day.p99_wait_s / static_cast<double>(days);
    waits.worst_s = std::max(waits.worst_s, of_day.worst_wait_s);
  }
  return waits;
}

double mean_et(const SettingRun& run, const std::string& policy, std::size_t days) {
  const std::vector<double> ets = run.ets(policy, days);
  double sum = 0;
  for (const double et : ets) sum += et;
  return sum / static_cast<double>(days);
}

SuiteRow make_row(const SettingRun& run, const std::string& policy, const ScoredPolicy& scored) {
  SuiteRow row;
  row.setting = run.world.setting();
  row.policy = policy;
  row.error = scored.error;
  row.draws = scored.days;
  if (!row.error.empty()) return row;
  row.et = mean_et(run, policy, scored.days);
  row.at_limit = scored.at_limit;
  row.chosen_on_even = scored.simple[scored.score.chosen[0]];
  row.chosen_on_odd = scored.simple[scored.score.chosen[1]];
  row.ratio = scored.score.ratio;
  row.in_hindsight = scored.simple[scored.score.in_hindsight];
  row.hindsight_ratio = scored.score.hindsight_ratio;
  const Waits own = waits_of(run, policy, scored.days);
  const Waits simple = waits_of(run, row.in_hindsight, scored.days);
  row.p99_wait_s = own.p99_s;
  row.worst_wait_s = own.worst_s;
  row.simple_p99_wait_s = simple.p99_s;
  row.simple_worst_wait_s = simple.worst_s;
  return row;
}

// The mean certified bound of the first days; nothing where a day has none.
Result<std::optional<double>> bound_of(const SettingRun& run, std::size_t days) {
  const std::string setting = to_json(run.world.setting()).dump();
  const std::string key = fmt::format("bound {}", days);
  if (const nlohmann::json found = run.cache.find(setting, key);
      found.is_array() && found.size() == 1) {
    return found[0].is_number() ? std::optional<double>(found[0].get<double>()) : std::nullopt;
  }
  AscentOptions search;
  search.rounds = kBoundRounds;
  search.finest = kBoundStretches;
  const auto bounds = certified_ets(
      run.world.settings(), days, [&](std::size_t day) { return run.world.day(day); }, search,
      run.options.threads);
  std::optional<double> mean;
  if (bounds) {
    mean = 0;
    for (const double bound : *bounds) *mean += bound / static_cast<double>(days);
  }
  nlohmann::json entry = nlohmann::json::array();
  entry.push_back(mean ? nlohmann::json(*mean) : nlohmann::json());
  if (const auto kept = run.cache.keep(setting, key, entry); !kept) return pass_on(kept);
  return mean;
}

}  // namespace

Result<std::vector<SuiteRow>> run_suite_setting(const SuiteSetting& setting,
                                                const SuiteTrace* trace,
                                                const SuiteOptions& options,
                                                const SuiteCache& cache) {
  const auto world = SuiteWorld::make(setting, trace);
  if (!world) return pass_on(world);
  SettingRun run = {**world,
                    options,
                    cache,
                    SuiteRuns(**world, cache, options.policy_digest, options.threads),
                    {}};
  if (const auto raced = race_simple_policies(run); !raced) return pass_on(raced);
  std::optional<double> bound;
  const std::size_t bound_days = std::min(options.bound_days, run.min_days());
  if (bound_days > 0 && (*world)->fleet().gpu_count() <= options.bound_gpus) {
    const auto found = bound_of(run, bound_days);
    if (!found) return pass_on(found);
    bound = *found;
  }
  std::vector<SuiteRow> rows;
  for (const std::string& policy : options.policies) {
    const auto scored = score_policy(run, policy);
    if (!scored) return pass_on(scored);
    SuiteRow& row = rows.emplace_back(make_row(run, policy, *scored));
    row.bound_et = bound;
    if (bound && row.error.empty()) row.et_on_bound_days = mean_et(run, policy, bound_days);
  }
  return rows;
}

std::vector<SuiteSummary> summarise(const std::vector<SuiteRow>& rows) {
  std::vector<SuiteSummary> summaries;
  for (const SuiteRow& row : rows) {
    auto at = std::ranges::find(summaries, row.policy, &SuiteSummary::policy);
    if (at == summaries.end()) {
      summaries.push_back({row.policy});
      at = summaries.end() - 1;
    }
    if (!row.error.empty()) {
      ++at->failed;
      continue;
    }
    ++at->settings;
    at->within += row.ratio.mean <= SuiteSummary::kWithin;
    at->far_above += row.ratio.low95.value_or(row.ratio.mean) > SuiteSummary::kFarAbove;
    at->geometric_mean += std::log(std::max(row.ratio.mean, SuiteSummary::kLeastRatio));
    at->worst = std::max(at->worst, row.ratio.mean);
  }
  for (SuiteSummary& summary : summaries) {
    if (summary.settings == 0) continue;
    summary.geometric_mean =
        std::exp(summary.geometric_mean / static_cast<double>(summary.settings));
  }
  return summaries;
}

}  // namespace smartmig
