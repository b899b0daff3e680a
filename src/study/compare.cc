#include "study/compare.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fleet/speeds.h"
#include "foresight/named_policies.h"

namespace smartmig {
namespace {

void estimate_all(Comparison& comparison, std::uint64_t seed) {
  std::vector<double> values(comparison.days);
  std::vector<double> first(comparison.days);
  const auto change = [&](const PolicyResult& result, double Metrics::*of) {
    for (std::size_t day = 0; day < comparison.days; ++day) {
      values[day] = result.days[day].*of;
      first[day] = comparison.policies.front().days[day].*of;
    }
    return estimate_change(values, first, seed);
  };
  for (PolicyResult& result : comparison.policies) {
    for (std::size_t q = 0; q < kQuantities.size(); ++q) {
      for (std::size_t day = 0; day < comparison.days; ++day)
        values[day] = result.days[day].*kQuantities[q].of;
      result.estimates[q] = estimate(values, seed);
    }
    result.et_vs_first = change(result, &Metrics::et);
    result.late_vs_first = change(result, &Metrics::late_pct);
  }
}

void rank(Comparison& comparison, std::uint64_t seed) {
  std::vector<std::size_t>& order = comparison.ranking.order;
  order.resize(comparison.policies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t policy) {
    return comparison.policies[policy][&Metrics::et].mean;
  });
  if (order.size() < 2) return;
  std::vector<double> best;
  std::vector<double> next;
  for (std::size_t day = 0; day < comparison.days; ++day) {
    best.push_back(comparison.policies[order[0]].days[day].et);
    next.push_back(comparison.policies[order[1]].days[day].et);
  }
  comparison.ranking.best_vs_next = estimate_change(best, next, seed);
}

}  // namespace

std::size_t Ranking::place(std::size_t policy) const {
  return static_cast<std::size_t>(std::ranges::find(order, policy) - order.begin()) + 1;
}

bool is_within_interval(const Change& change) {
  return change.low95 && *change.low95 <= 0 && *change.high95 >= 0;
}

const Estimate& PolicyResult::operator[](double Metrics::*of) const {
  std::size_t q = 0;
  while (kQuantities[q].of != of) SM_CHECK(++q < kQuantities.size());
  return estimates[q];
}

double PolicyResult::length_s() const {
  double sum = 0;
  for (const Metrics& day : days) sum += day.makespan_s;
  return sum / static_cast<double>(days.size());
}

std::optional<double> Comparison::span_s() const {
  double sum = 0;
  for (const Metrics& day : policies.front().days) {
    if (!day.span_s) return std::nullopt;
    sum += *day.span_s;
  }
  return sum / static_cast<double>(days);
}

TurnCounts PolicyResult::turns() const {
  TurnCounts all;
  for (const Metrics& day : days) {
    all.decisions += day.turns.decisions;
    all.decisions_with_change += day.turns.decisions_with_change;
    all.gpus_asked += day.turns.gpus_asked;
    all.gpus_changed += day.turns.gpus_changed;
  }
  return all;
}

Result<std::vector<Policy>> make_policies(const RunSettings& settings,
                                          std::span<const std::string> specs) {
  std::vector<Policy> policies;
  for (const std::string& spec : specs) {
    auto made =
        make_named_policy(spec, *settings.fleet, {settings.energy_weight, settings.engine.seed});
    if (!made) return pass_on(made);
    policies.push_back(std::move(*made));
  }
  return policies;
}

Result<Comparison> compare(const RunSettings& settings, std::span<const Policy> policies,
                           std::size_t days, const DaySource& source, int threads,
                           Progress* progress, const CompareWatch& watch) {
  SM_CHECK(!policies.empty() && days > 0);
  Comparison comparison;
  comparison.days = days;
  comparison.speeds = speed_assumptions(*settings.fleet);
  comparison.priced = settings.tariff.has_value();
  comparison.carbon = comparison.priced && settings.tariff->g_co2_per_kwh;
  if (comparison.priced) comparison.currency = settings.tariff->currency;
  for (const Policy& policy : policies) {
    PolicyResult& result = comparison.policies.emplace_back();
    result.policy = policy.name;
    result.days.resize(days);
  }

  std::vector<DayRun> runs =
      run_days(settings, policies, {0, days, source, threads, progress, watch});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].error) return tl::unexpected<Error>(*runs[run].error);
    comparison.policies[run % policies.size()].days[run / policies.size()] =
        std::move(runs[run].metrics);
  }
  estimate_all(comparison, settings.engine.seed);
  rank(comparison, settings.engine.seed);
  return comparison;
}

std::size_t median_day(const PolicyResult& result) {
  std::vector<std::size_t> order(result.days.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.days[a].et < result.days[b].et;
  });
  return order[(order.size() - 1) / 2];
}

void add_bounds(Comparison& comparison, std::vector<DayBound> bounds, std::uint64_t seed) {
  SM_CHECK(bounds.size() == comparison.days);
  comparison.bounds = std::move(bounds);
  const auto above = [&](const PolicyResult& result, double Metrics::*of, double DayBound::*bound) {
    std::vector<double> values;
    std::vector<double> base;
    for (const Metrics& day : result.days) values.push_back(day.*of);
    for (const DayBound& day : comparison.bounds) base.push_back(day.*bound);
    return estimate_change(values, base, seed);
  };
  bool tried = true;
  for (const DayBound& day : comparison.bounds) tried = tried && day.program_tried;
  for (PolicyResult& result : comparison.policies) {
    result.et_above_bound = above(result, &Metrics::et, &DayBound::et);
    result.tardiness_above_bound =
        above(result, &Metrics::avg_tardiness_s, &DayBound::avg_tardiness_s);
    if (!tried) continue;
    result.tardiness_above_program =
        above(result, &Metrics::avg_tardiness_s, &DayBound::linearised_tardiness_s);
  }
}

void add_energy_bounds(Comparison& comparison, std::vector<double> bounds_j, std::uint64_t seed) {
  SM_CHECK(bounds_j.size() == comparison.days);
  comparison.energy_bounds_j = std::move(bounds_j);
  for (PolicyResult& result : comparison.policies) {
    std::vector<double> energy_j;
    for (const Metrics& day : result.days) energy_j.push_back(day.energy_j);
    result.energy_above_published = estimate_change(energy_j, comparison.energy_bounds_j, seed);
  }
}

}  // namespace smartmig
