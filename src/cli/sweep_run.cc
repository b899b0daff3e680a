#include "cli/sweep_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "study/fitting_jobs.h"

namespace smartmig {
namespace {

constexpr std::size_t kMaxPoints = 10'000;

// A policy's list of layouts is for one number of GPUs.
Result<void> set_gpus(CompareOptions& options, const std::string& value) {
  const auto count = parse_integer(value);
  if (!count || *count < 1)
    return fail("--sweep: gpus: found {}, expected a whole number from 1", in_quotes(value));
  for (const std::string& policy : options.policies) {
    if (policy.starts_with("static:") || policy.starts_with("day-night:"))
      return fail("--sweep: gpus: {} lists a layout for each GPU, expected one for any number",
                  policy);
  }
  const auto fleet = Fleet::parse(options.run.fleet);
  if (!fleet) return pass_on(fleet);
  if (fleet->boards().size() > 1)
    return fail("--sweep: gpus: found fleet {}, expected GPUs of one board", fleet->name());
  options.run.fleet = fmt::format("{}x{}", *count, fleet->board(0).name);
  return {};
}

template <class Number>
Result<void> set_number(Number& option, const char* key, const std::string& value) {
  const auto number = parse_number(value);
  if (!number) return fail("--sweep: {}: found {}, expected a number", key, in_quotes(value));
  option = *number;
  return {};
}

Result<void> set_text(std::optional<std::string>& option, const std::string& value) {
  option = value;
  return {};
}

using Setter = Result<void> (*)(CompareOptions&, const std::string&);
struct SweepKey {
  std::string name;
  Setter set;
};
// Those of the options that a single value says something about.
const std::vector<SweepKey>& sweep_keys() {
  using Options = CompareOptions;
  using Value = const std::string;
  static const std::vector<SweepKey> keys = {
      {"gpus", set_gpus},
      {"rate", [](Options& o, Value& v) { return set_number(o.run.workload.rate, "rate", v); }},
      {"training-share",
       [](Options& o, Value& v) {
         return set_number(o.run.workload.training_share, "training-share", v);
       }},
      {"estimate-error",
       [](Options& o, Value& v) { return set_number(o.run.estimate_error, "estimate-error", v); }},
      {"energy-weight",
       [](Options& o, Value& v) { return set_number(o.run.energy_weight, "energy-weight", v); }},
      {"cost-scale",
       [](Options& o, Value& v) { return set_number(o.run.cost_scale, "cost-scale", v); }},
      {"power-scale",
       [](Options& o, Value& v) { return set_number(o.run.power_scale, "power-scale", v); }},
      {"deadlines", [](Options& o, Value& v) { return set_text(o.run.workload.deadlines, v); }},
      {"curve", [](Options& o, Value& v) { return set_text(o.run.workload.curve, v); }},
      {"job-times", [](Options& o, Value& v) { return set_text(o.run.workload.job_times, v); }},
      {"costs", [](Options& o, Value& v) { return set_text(o.run.costs, v); }},
  };
  return keys;
}

Result<void> set_value(CompareOptions& options, const std::string& key, const std::string& value) {
  const auto at = std::ranges::find(sweep_keys(), key, &SweepKey::name);
  if (at != sweep_keys().end()) return at->set(options, value);
  std::vector<std::string> names;
  for (const SweepKey& known : sweep_keys()) names.push_back(known.name);
  return fail("--sweep: unknown key '{}'{}", key, suggestion(key, names));
}

Result<std::vector<SweepAxis>> read_axes(const SweepOptions& sweep) {
  std::vector<SweepAxis> axes;
  std::size_t points = 1;
  for (const std::string& text : sweep.axes) {
    auto axis = parse_sweep_axis(text);
    if (!axis) return pass_on(axis);
    if (std::ranges::find(axes, axis->key, &SweepAxis::key) != axes.end())
      return fail("--sweep: {} is given twice, expected one list of values", axis->key);
    points *= axis->values.size();
    axes.push_back(std::move(*axis));
    if (points > kMaxPoints)
      return fail("--sweep: over {} points, expected fewer values", kMaxPoints);
  }
  return axes;
}

// What only a tariff gives has no meaning without one that does.
Result<void> check_target(const SweepTarget& target, const std::optional<Tariff>& tariff) {
  const auto of = kQuantities[target.quantity].of;
  if (of == &Metrics::cost && !tariff) return fail("--target: cost needs --tariff");
  if (of == &Metrics::co2_kg && !(tariff && tariff->g_co2_per_kwh))
    return fail("--target: co2_kg needs a --tariff with g_co2_per_kwh");
  return {};
}

Result<SweepPoint> run_point(const CompareOptions& options, const std::string& what) {
  auto prepared = prepare(options);
  if (!prepared) return pass_on(prepared);
  SweepPoint point;
  if (prepared->days.file) {
    const JobBalance& balance = prepared->days.file->balance;
    point.unfit = balance.unfit.total().jobs + balance.dropped.of(LossReason::kSeveralGpus).jobs;
  }
  for (std::size_t day = 0; day < prepared->days.count; ++day) {
    const auto table = prepared->days.day(day);
    if (!table) return pass_on(table);
    const auto late = static_cast<double>(count_late_at_once(**table, prepared->setup->fleet));
    point.late_at_once_pct += 100 * late / static_cast<double>((*table)->jobs.size()) /
                              static_cast<double>(prepared->days.count);
  }
  auto comparison = run(*prepared, what);
  if (!comparison) return pass_on(comparison);
  point.comparison = std::move(*comparison);
  for (const Metrics& day : point.comparison.policies.front().days) point.jobs += day.jobs;
  return point;
}

}  // namespace

void add_sweep_options(CLI::App& app, SweepOptions& options) {
  std::vector<std::string> names;
  for (const SweepKey& key : sweep_keys()) names.push_back(key.name);
  app.add_option("--sweep", options.axes,
                 fmt::format("KEY=VALUES, as gpus=4..16 or rate=12,16,20: compare at each value; "
                             "repeat it for a grid. Keys: {}",
                             join(names, ", ")))
      ->allow_extra_args(false);
  app.add_option("--target", options.target,
                 "QUANTITY=VALUE, as late_pct=5: with --sweep gpus=…, say the least number of GPUs "
                 "that has at most this, and its energy");
}

Result<PreparedSweep> prepare(const CompareOptions& options, const SweepOptions& sweep) {
  PreparedSweep prepared;
  auto axes = read_axes(sweep);
  if (!axes) return pass_on(axes);
  prepared.axes = std::move(*axes);
  const bool has_gpus =
      std::ranges::find(prepared.axes, "gpus", &SweepAxis::key) != prepared.axes.end();
  if (!sweep.target.empty()) {
    auto target = parse_sweep_target(sweep.target);
    if (!target) return pass_on(target);
    if (!has_gpus) return fail("--target: needs --sweep gpus=..., which it chooses from");
    prepared.target = *target;
  }
  CompareOptions base = options;
  // The usual set has lists of layouts, which are for one number of GPUs.
  if (base.policies.empty() && has_gpus) base.policies = {"none/edf", "count/cedf", "smartmig"};
  for (const auto& values : grid(prepared.axes)) {
    CompareOptions point = base;
    for (std::size_t a = 0; a < values.size(); ++a) {
      if (const auto set = set_value(point, prepared.axes[a].key, values[a]); !set)
        return pass_on(set);
    }
    // What is wrong at one point is said before any of them runs.
    const auto checked = prepare(point);
    if (!checked) return pass_on(checked);
    if (prepared.target) {
      const auto meant = check_target(*prepared.target, checked->setup->settings.tariff);
      if (!meant) return pass_on(meant);
    }
    prepared.points.push_back(std::move(point));
  }
  return prepared;
}

Result<Sweep> run(const PreparedSweep& prepared) {
  Sweep sweep;
  sweep.axes = prepared.axes;
  const auto values = grid(prepared.axes);
  for (std::size_t p = 0; p < prepared.points.size(); ++p) {
    auto point = run_point(prepared.points[p],
                           fmt::format("compare: point {} of {}", p + 1, prepared.points.size()));
    if (!point) return pass_on(point);
    point->values = values[p];
    sweep.points.push_back(std::move(*point));
  }
  return sweep;
}

}  // namespace smartmig
