#include "cli/comparison_run.h"

#include <CLI/CLI.hpp>

#include "cli/assumptions.h"
#include "study/published.h"

namespace smartmig {

void add_compare_options(CLI::App& app, CompareOptions& options) {
  // One value each, so that nothing after it is taken for another policy.
  app.add_option("--policy", options.policies,
                 "A policy, see below. Repeat the option; the others are compared with the first "
                 "(default: a set of well-known policies)")
      ->allow_extra_args(false);
  add_run_options(app, options.run);
  add_day_options(app, options.run, options.split_days);
  app.add_flag(
      "--bound", options.bound,
      "Also show how far each policy is above the certified lower bound (takes seconds for each "
      "day)");
  app.add_flag("--energy-bound", options.energy_bound,
               "Also show how far its energy is above the published energy bound (quick)");
  app.add_flag("--layouts", options.layouts,
               "Also show the share of the time that GPUs have each layout");
}

Result<PreparedComparison> prepare(const CompareOptions& options) {
  PreparedComparison prepared;
  auto setup = read_setup(options.run);
  if (!setup) return pass_on(setup);
  prepared.setup = std::move(*setup);
  prepared.setup->settings.engine.layout_times = options.layouts;
  prepared.specs =
      options.policies.empty() ? default_policies(prepared.setup->fleet) : options.policies;
  auto policies = make_policies(prepared.setup->settings, prepared.specs);
  if (!policies) return pass_on(policies);
  prepared.policies = std::move(*policies);
  auto days = [&] {
    const Progress progress("reading the jobs");
    return read_days(options.run, options.split_days, prepared.setup->fleet);
  }();
  if (!days) return pass_on(days);
  prepared.days = std::move(*days);
  for (const Policy& policy : prepared.policies) {
    if (!policy.partitioner->needs_requests()) continue;
    const auto first = prepared.days.day(0);
    if (!first) return pass_on(first);
    if (const auto known = check_requests(policy, **first); !known) return pass_on(known);
  }
  prepared.assumptions = list_assumptions(options.run, *prepared.setup, prepared.days.file);
  prepared.threads = options.run.threads;
  prepared.bound = options.bound;
  prepared.energy_bound = options.energy_bound;
  return prepared;
}

Result<PreparedComparison> prepare_words(const std::string& words, int threads) {
  CLI::App app;
  CompareOptions options;
  add_compare_options(app, options);
  options.run.threads = threads;
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return fail("{}: {}", words, error.what());
  }
  return prepare(options);
}

Result<Comparison> run(const PreparedComparison& prepared, const std::string& what,
                       const CompareWatch& watch) {
  const RunSettings& settings = prepared.setup->settings;
  const StudyDays& days = prepared.days;
  Result<Comparison> comparison = [&] {
    Progress progress(what + ": runs", days.count * prepared.policies.size());
    return compare(settings, prepared.policies, days.count, days.day, prepared.threads, &progress,
                   watch);
  }();
  if (!comparison) return comparison;
  set_file(*comparison, days);
  comparison->assumptions = prepared.assumptions;
  if (prepared.bound) {
    Progress progress(what + ": bounds", days.count * kBoundSteps, Progress::Shown::kPercent);
    auto bounds = bound_days(settings, days.count, days.day, prepared.threads, &progress);
    if (!bounds) return pass_on(bounds);
    add_bounds(*comparison, std::move(*bounds), settings.engine.seed);
  }
  if (prepared.energy_bound) {
    Progress progress(what + ": energy bounds, days", days.count);
    auto bounds =
        published_energy_bounds(settings, days.count, days.day, prepared.threads, &progress);
    if (!bounds) return pass_on(bounds);
    add_energy_bounds(*comparison, std::move(*bounds), settings.engine.seed);
  }
  return comparison;
}

}  // namespace smartmig
