// `smartmig compare`: several policies on the same days.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "cli/run_options.h"
#include "policy/registry.h"
#include "report/comparison.h"
#include "report/comparison_pictures.h"
#include "study/published.h"

namespace smartmig {
namespace {

struct CompareOptions {
  RunOptions run;
  ReportOptions report;
  std::vector<std::string> policies;
  bool split_days = false;
  bool bound = false;
};

// What --out adds to a comparison: the files of its numbers, and the report.
struct CompareOutput {
  OutputFolder folder;
  ReportContext context;
  ComparisonPictures pictures;
};

Result<void> write_output(CompareOutput&& output, const RunOptions& run,
                          const RunSettings& settings, const Comparison& comparison,
                          const DaySource& source) {
  const auto pictures =
      std::move(output.pictures).finish(settings, comparison, source, run.threads);
  if (!pictures) return pass_on(pictures);
  std::vector<OutputFile> files = comparison_files(comparison);
  files.push_back(
      {"report.html", comparison_page(comparison, run.energy_weight, *pictures, output.context)});
  return output.folder.write(files);
}

int run_compare(const CompareOptions& options, const Invocation& invocation) {
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  const auto policies = options.policies.empty() ? default_policies(fleet) : options.policies;
  for (const std::string& policy : policies) {
    if (const auto made = make_policy(policy, fleet); !made) return bad_input(made.error().message);
  }
  const auto days = read_days(options.run, options.split_days);
  if (!days) return bad_input(days.error().message);
  std::optional<CompareOutput> output;
  if (!options.run.out.empty()) {
    auto context = read_report_context(options.report, options.run, **setup, days->trace, policies,
                                       invocation);
    if (!context) return bad_input(context.error().message);
    auto opened = OutputFolder::open(options.run.out);
    if (!opened) return bad_input(opened.error().message);
    output.emplace(CompareOutput{std::move(*opened), std::move(*context),
                                 ComparisonPictures(policies, days->count)});
    (*setup)->settings.engine.records = true;
  } else if (!options.report.learning_curve.empty()) {
    return bad_input("--learning-curve: is for the report, expected --out as well");
  }

  Result<Comparison> comparison = [&] {
    Progress progress("compare", days->count * policies.size());
    return compare((*setup)->settings, policies, days->count, days->day, options.run.threads,
                   &progress, output ? output->pictures.watch() : CompareWatch());
  }();
  if (!comparison) return failed(comparison.error().message);
  if (options.bound) {
    Progress progress("compare: days bounded", days->count);
    auto bounds =
        bound_days((*setup)->settings, days->count, days->day, options.run.threads, &progress);
    if (!bounds) return failed(bounds.error().message);
    add_bounds(*comparison, std::move(*bounds), (*setup)->settings.engine.seed);
  }
  if (output) {
    const auto written =
        write_output(std::move(*output), options.run, (*setup)->settings, *comparison, days->day);
    if (!written) return failed(written.error().message);
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

void add_compare(CLI::App& app, Action& action, const Invocation& invocation) {
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
  command->get_option("--out")->description(
      "A folder for report.html, compare.csv, compare.json and days.csv");
  add_report_options(*command, options->report);
  command->footer(describe_policies());
  command->callback([options, &action, &invocation] {
    action = [options, &invocation] { return run_compare(*options, invocation); };
  });
}

}  // namespace smartmig
