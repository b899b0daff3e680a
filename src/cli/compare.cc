// `smartmig compare`: several policies on the same days, or at each point of a grid.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "cli/cli.h"
#include "cli/comparison_run.h"
#include "cli/help.h"
#include "cli/report_options.h"
#include "cli/sweep_run.h"
#include "foresight/named_policies.h"
#include "report/comparison.h"
#include "report/comparison_pictures.h"
#include "report/sweep_page.h"
#include "report/sweep_report.h"

namespace smartmig {
namespace {

struct Options {
  CompareOptions compare;
  SweepOptions sweep;
  ReportOptions report;
};

// A folder, and what the report in it says of the command.
struct Output {
  OutputFolder folder;
  ReportContext context;
};
// Nothing where no folder is asked for. Errors are bad input.
Result<std::optional<Output>> open_output(const Options& options,
                                          const PreparedComparison& prepared,
                                          const Invocation& invocation) {
  const RunOptions& run = options.compare.run;
  if (run.out.empty()) return std::optional<Output>();
  const auto first = prepared.days.day(0);
  if (!first) return pass_on(first);
  if (const auto good = check_recordable(**first); !good) return pass_on(good);
  auto context = read_report_context(options.report, run, *prepared.setup, prepared.days.file,
                                     prepared.specs, invocation);
  if (!context) return pass_on(context);
  auto folder = open_out(run);
  if (!folder) return pass_on(folder);
  return std::optional<Output>(Output{std::move(**folder), std::move(*context)});
}

Result<void> write_output(Output& output, ComparisonPictures&& taken, const RunOptions& run,
                          const PreparedComparison& prepared, const Comparison& comparison) {
  const Progress progress("compare: making the report");
  const auto pictures =
      std::move(taken).finish(prepared.setup->settings, comparison, prepared.days.day, run.threads);
  if (!pictures) return pass_on(pictures);
  std::vector<OutputFile> files = comparison_files(comparison);
  files.push_back(
      {"report.html", comparison_page(comparison, run.energy_weight, *pictures, output.context)});
  return output.folder.write(files);
}

int run_compare(const Options& options, const Invocation& invocation) {
  const RunOptions& run_options = options.compare.run;
  const auto prepared = prepare(options.compare);
  if (!prepared) return bad_input(prepared.error().message);
  auto output = open_output(options, *prepared, invocation);
  if (!output) return bad_input(output.error().message);
  std::optional<ComparisonPictures> pictures;
  if (*output) {
    pictures.emplace(prepared->policies, prepared->days.count);
    prepared->setup->settings.engine.records = true;
  }
  const auto comparison = run(*prepared, "compare", pictures ? pictures->watch() : CompareWatch());
  if (!comparison) return failed(comparison.error().message);
  if (*output) {
    const auto written =
        write_output(**output, std::move(*pictures), run_options, *prepared, *comparison);
    if (!written) return failed(written.error().message);
  }
  if (run_options.json) {
    fmt::print("{}\n", to_json(*comparison).dump(2));
  } else {
    const std::string best = best_text(*comparison);
    fmt::print("{}{}{}{}", to_text(*comparison, run_options.energy_weight),
               describe_setting(run_options, *prepared->setup, prepared->days.file), best,
               best.empty() ? "" : "\n");
  }
  return 0;
}

int run_sweep(const Options& options, const Invocation& invocation) {
  const auto prepared = prepare(options.compare, options.sweep);
  if (!prepared) return bad_input(prepared.error().message);
  const auto first = prepare(prepared->points.front());
  if (!first) return bad_input(first.error().message);
  auto output = open_output(options, *first, invocation);
  if (!output) return bad_input(output.error().message);
  const auto sweep = run(*prepared);
  if (!sweep) return failed(sweep.error().message);
  if (*output) {
    std::vector<OutputFile> files = sweep_files(*sweep, prepared->target);
    files.push_back({"report.html", sweep_page(*sweep, prepared->target, (*output)->context)});
    if (const auto written = (*output)->folder.write(files); !written)
      return failed(written.error().message);
  }
  if (options.compare.run.json) {
    fmt::print("{}\n", to_json(*sweep, prepared->target).dump(2));
  } else {
    const std::string setting =
        describe_setting(prepared->points.front().run, *first->setup, first->days.file);
    fmt::print("{}At the first point: {}", to_text(*sweep, prepared->target), setting);
    for (const std::string& decision : decision_texts(*sweep, prepared->target))
      fmt::print("{}\n", decision);
  }
  return 0;
}

int run_either(const Options& options, const Invocation& invocation) {
  const bool curve = !options.report.learning_curve.empty();
  if (curve && options.compare.run.out.empty())
    return bad_input("--learning-curve: is for the report, expected --out as well");
  if (options.sweep.axes.empty()) {
    if (!options.sweep.target.empty())
      return bad_input("--target: needs --sweep gpus=..., which it chooses from");
    return run_compare(options, invocation);
  }
  if (curve) return bad_input("--learning-curve: is for one comparison, expected no --sweep");
  return run_sweep(options, invocation);
}

}  // namespace

void add_compare(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare policies on the same jobs, with confidence intervals");
  const auto options = std::make_shared<Options>();
  add_compare_options(*command, options->compare);
  add_sweep_options(*command, options->sweep);
  command->get_option("--out")->description(
      "A folder for report.html, compare.csv, compare.json and days.csv, or sweep.csv and "
      "sweep.json");
  add_report_options(*command, options->report);
  command->footer(describe_named_policies());
  add_examples(
      *command,
      {{"Compare three policies on 20 days of the papers' workload",
        "smartmig compare --days 20 --policy none/edf --policy greedy --policy smartmig"},
       {"Compare them on your own jobs, and write a report",
        "smartmig compare --jobs examples/week.sacct --policy none/edf --policy smartmig --out "
        "run"},
       {"Find how many GPUs keep late jobs under 5 %",
        "smartmig compare --jobs examples/week.sacct --sweep gpus=4..8 --target late_pct=5"}});
  command->callback([options, &action, &invocation] {
    action = [options, &invocation] { return run_either(*options, invocation); };
  });
}

}  // namespace smartmig
