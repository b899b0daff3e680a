// `smartmig compare`: several policies on the same days.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "cli/comparison_run.h"
#include "cli/sweep_run.h"
#include "policy/registry.h"
#include "report/comparison.h"
#include "report/sweep_report.h"

namespace smartmig {
namespace {

// Nothing where no folder is asked for.
Result<std::optional<OutputFolder>> open_folder(const std::string& path) {
  if (path.empty()) return std::optional<OutputFolder>();
  auto opened = OutputFolder::open(path);
  if (!opened) return pass_on(opened);
  return std::optional<OutputFolder>(std::move(*opened));
}

int run_sweep(const CompareOptions& options, const SweepOptions& sweep_options) {
  const auto prepared = prepare(options, sweep_options);
  if (!prepared) return bad_input(prepared.error().message);
  auto folder = open_folder(options.run.out);
  if (!folder) return bad_input(folder.error().message);
  const auto sweep = run(*prepared);
  if (!sweep) return failed(sweep.error().message);
  if (*folder) {
    if (const auto written = (*folder)->write(sweep_files(*sweep, prepared->target)); !written)
      return failed(written.error().message);
  }
  fmt::print("{}", options.run.json ? to_json(*sweep, prepared->target).dump(2) + "\n"
                                    : to_text(*sweep, prepared->target));
  return 0;
}

int run_compare(const CompareOptions& options) {
  const auto prepared = prepare(options);
  if (!prepared) return bad_input(prepared.error().message);
  auto folder = open_folder(options.run.out);
  if (!folder) return bad_input(folder.error().message);
  const auto comparison = run(*prepared, "compare");
  if (!comparison) return failed(comparison.error().message);
  if (*folder) {
    if (const auto written = (*folder)->write(comparison_files(*comparison)); !written)
      return failed(written.error().message);
  }
  if (options.run.json) {
    fmt::print("{}\n", to_json(*comparison).dump(2));
  } else {
    fmt::print("{}{}", to_text(*comparison, options.run.energy_weight),
               describe_setting(options.run, *prepared->setup, prepared->days.trace));
  }
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Several policies on the same days, with intervals");
  const auto options = std::make_shared<CompareOptions>();
  const auto sweep = std::make_shared<SweepOptions>();
  add_compare_options(*command, *options);
  add_sweep_options(*command, *sweep);
  command->get_option("--out")->description(
      "A folder for compare.csv, compare.json and days.csv, or sweep.csv and sweep.json");
  command->footer(describe_policies());
  command->callback([options, sweep, &action] {
    action = [options, sweep] {
      if (!sweep->axes.empty()) return run_sweep(*options, *sweep);
      if (!sweep->target.empty()) return bad_input("--target: needs --sweep gpus=...");
      return run_compare(*options);
    };
  });
}

}  // namespace smartmig
