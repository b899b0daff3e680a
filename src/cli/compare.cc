// `smartmig compare`: several policies on the same days.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "cli/run_options.h"
#include "policy/registry.h"
#include "report/comparison.h"
#include "study/published.h"

namespace smartmig {
namespace {

struct CompareOptions {
  RunOptions run;
  std::vector<std::string> policies;
  bool split_days = false;
  bool bound = false;
};

int run_compare(const CompareOptions& options) {
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  const auto specs = options.policies.empty() ? default_policies(fleet) : options.policies;
  const auto policies = make_policies((*setup)->settings, specs);
  if (!policies) return bad_input(policies.error().message);
  const auto days = read_days(options.run, options.split_days);
  if (!days) return bad_input(days.error().message);
  auto folder = open_out(options.run);
  if (!folder) return bad_input(folder.error().message);

  Result<Comparison> comparison = [&] {
    Progress progress("compare", days->count * policies->size());
    return compare((*setup)->settings, *policies, days->count, days->day, options.run.threads,
                   &progress);
  }();
  if (!comparison) return failed(comparison.error().message);
  if (options.bound) {
    Progress progress("compare: days bounded", days->count);
    auto bounds =
        bound_days((*setup)->settings, days->count, days->day, options.run.threads, &progress);
    if (!bounds) return failed(bounds.error().message);
    add_bounds(*comparison, std::move(*bounds), (*setup)->settings.engine.seed);
  }
  if (*folder) {
    if (const auto written = (*folder)->write(comparison_files(*comparison)); !written)
      return failed(written.error().message);
  }
  if (options.run.json) {
    fmt::print("{}\n", to_json(*comparison).dump(2));
  } else {
    fmt::print("{}{}", to_text(*comparison, options.run.energy_weight),
               describe_setting(options.run, **setup, days->trace));
  }
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Several policies on the same days, with intervals");
  const auto options = std::make_shared<CompareOptions>();
  // One value each, so that nothing after it is taken for another policy.
  command
      ->add_option("--policy", options->policies,
                   "What decides, see below; repeat it, the first is what the others are compared "
                   "with (a set of well-known ones)")
      ->allow_extra_args(false);
  add_run_options(*command, options->run);
  add_day_options(*command, options->run, options->split_days);
  command->add_flag("--bound", options->bound,
                    "Say how far each policy is above the certified bound (seconds a day)");
  command->get_option("--out")->description("A folder for compare.csv, compare.json and days.csv");
  command->footer(describe_policies());
  command->callback([options, &action] { action = [options] { return run_compare(*options); }; });
}

}  // namespace smartmig
