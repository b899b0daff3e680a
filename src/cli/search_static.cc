// `smartmig search-static`: the best fixed layouts for a workload, found on some days and reported
// on others.
#include "study/search_static.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/assumptions.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/run_options.h"
#include "cli/search_days.h"
#include "cli/search_on_demand.h"
#include "foresight/named_policies.h"
#include "mig/mig_parted.h"
#include "report/comparison.h"
#include "report/table.h"
#include "study/published.h"

namespace smartmig {
namespace {

struct SearchStaticOptions {
  RunOptions run;
  SearchOptions search;
  std::optional<int> train_days;
  std::int64_t budget = 10000;
  bool split_days = false;
  std::string mig_parted;  // A file for the best layouts; "": none.
  bool on_demand = false;  // Tune requested sizes in place of layouts.
  std::string on_demand_rules;
};

std::string training_text(const SearchStaticOptions& options, const SearchResult& found,
                          const SearchDays& split) {
  Table table({{"layouts", Table::Align::kLeft}, {"ET in training"}});
  for (const FoundLayouts& layouts : found.best)
    table.add_row({layouts.layouts, fmt::format("{:.4g}", layouts.train_et)});
  table.add_row(
      {found.start.layouts + " (to compare with)", fmt::format("{:.4g}", found.start.train_et)});
  return table.text() +
         fmt::format(
             "\nPlacer {}; {} lists of layouts, {} days simulated on {} training day{}; {}.\n\n",
             options.search.placer, found.candidates, found.simulated_days, split.train.size(),
             split.train.size() == 1 ? "" : "s",
             found.out_of_budget ? "the budget ended the search, more may help"
                                 : "no change of one GPU helps any more");
}

nlohmann::ordered_json to_json(const SearchStaticOptions& options, const SearchResult& found,
                               const SearchDays& split, const Comparison& report) {
  nlohmann::ordered_json best = nlohmann::ordered_json::array();
  const auto entry = [&](const FoundLayouts& layouts) {
    return nlohmann::ordered_json{
        {"layouts", layouts.layouts},
        {"policy", fmt::format("static:{}/{}", layouts.layouts, options.search.placer)},
        {"train_et", layouts.train_et}};
  };
  for (const FoundLayouts& layouts : found.best) best.push_back(entry(layouts));
  return {{"placer", options.search.placer},
          {"train_days", split.train.size()},
          {"candidates", found.candidates},
          {"simulated_days", found.simulated_days},
          {"out_of_budget", found.out_of_budget},
          {"reported_on_training_days", split.same},
          {"best", std::move(best)},
          {"start", entry(found.start)},
          {"report", to_json(report)}};
}

// The layouts as `static:` takes them, for NVIDIA's tool.
std::string mig_parted_of(const std::string& layouts, const Fleet& fleet) {
  const auto sets = parse_layout_list(layouts, fleet);
  SM_CHECK(sets.has_value());
  std::map<std::uint32_t, SliceCounts> gpus;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    gpus[gpu] = slice_counts(fleet.board(gpu), (*sets)[gpu]);
  return mig_parted_yaml(gpus);
}

// Errors are bad input.
Result<SearchOptions> read_search(const SearchStaticOptions& options, const Fleet& fleet) {
  SearchOptions search = options.search;
  search.threads = options.run.threads;
  if (options.budget < 1)
    return fail("--budget: found {}, expected 1 or more simulated days", options.budget);
  search.budget = static_cast<std::size_t>(options.budget);
  if (const auto policy = make_named_policy("none/" + search.placer, fleet); !policy)
    return pass_on(policy);
  for (const std::string& start : search.starts) {
    if (const auto layouts = parse_layout_list(start, fleet); !layouts) return pass_on(layouts);
  }
  if (search.starts.empty() && is_published_fleet(fleet)) search.starts = {kPublishedLayouts};
  if (const auto parent = std::filesystem::path(options.mig_parted).parent_path();
      !parent.empty() && !std::filesystem::is_directory(parent)) {
    return fail("--mig-parted: there is no folder '{}'", parent.string());
  }
  return search;
}

// The start and the best layouts, compared on the days to report on.
Result<Comparison> compare_found(const SearchStaticOptions& options, const RunSetup& setup,
                                 const SearchResult& found, const SearchDays& split) {
  const auto policy_of = [&](const FoundLayouts& layouts) {
    return fmt::format("static:{}/{}", layouts.layouts, options.search.placer);
  };
  std::vector<std::string> specs = {policy_of(found.start)};
  for (const FoundLayouts& layouts : found.best) {
    if (layouts.layouts != found.start.layouts) specs.push_back(policy_of(layouts));
  }
  const auto policies = make_policies(setup.settings, specs);
  if (!policies) return pass_on(policies);
  const DaySource source = [&](std::size_t day) -> Result<DayTable> { return split.report[day]; };
  Progress progress("search-static: runs to report on", split.report.size() * policies->size());
  auto report = compare(setup.settings, *policies, split.report.size(), source, options.run.threads,
                        &progress);
  if (!report) return pass_on(report);
  if (split.file) report->balance = split.file->balance;
  report->assumptions = list_assumptions(options.run, setup, split.file);
  return report;
}

// What layouts need and requests do not.
Result<void> check_on_demand(const SearchStaticOptions& options) {
  if (options.on_demand_rules.empty() || options.on_demand) {
    if (options.on_demand && !options.mig_parted.empty())
      return fail("--mig-parted: is for layouts, and --on-demand finds none");
    if (options.on_demand && !options.search.starts.empty())
      return fail("--start: is for layouts, and --on-demand finds none");
    return {};
  }
  return fail("--on-demand-rules: expected --on-demand as well");
}

int run_search_static(const SearchStaticOptions& options) {
  if (const auto good = check_on_demand(options); !good) return bad_input(good.error().message);
  if (options.on_demand) {
    return run_search_on_demand({options.run, options.on_demand_rules,
                                 options.train_days.value_or(8), options.budget,
                                 options.split_days});
  }
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  const auto search = read_search(options, fleet);
  if (!search) return bad_input(search.error().message);
  const auto split =
      read_search_days(options.run, options.split_days, options.train_days.value_or(32), fleet);
  if (!split) return bad_input(split.error().message);
  auto folder = open_out(options.run);
  if (!folder) return bad_input(folder.error().message);

  const auto found = [&] {
    Progress progress("search-static", search->budget);
    return search_static((*setup)->settings, split->train, *search, &progress);
  }();
  if (!found) return failed(found.error().message);
  const auto report = compare_found(options, **setup, *found, *split);
  if (!report) return failed(report.error().message);
  if (*folder) {
    auto files = comparison_files(*report);
    files.push_back({"search.json", to_json(options, *found, *split, *report).dump(2) + "\n"});
    if (const auto written = (*folder)->write(files); !written)
      return failed(written.error().message);
  }
  if (!options.mig_parted.empty()) {
    const auto written =
        write_file(options.mig_parted, mig_parted_of(found->best.front().layouts, fleet));
    if (!written) return failed(written.error().message);
  }
  if (options.run.json) {
    fmt::print("{}\n", to_json(options, *found, *split, *report).dump(2));
    return 0;
  }
  fmt::print("{}{}{}{}", training_text(options, *found, *split),
             to_text(*report, options.run.energy_weight),
             split->same ? "The same jobs were searched on: on others expect less.\n" : "",
             describe_setting(options.run, **setup, split->file));
  return 0;
}

}  // namespace

void add_search_static(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("search-static", "Find the best fixed layouts for a workload");
  const auto options = std::make_shared<SearchStaticOptions>();
  command->add_option("--placer", options->search.placer,
                      "The placer, which chooses the slice of each job (default: cedf)");
  command->add_option("--train-days", options->train_days,
                      "Days to search on; the result is measured on other days (default: 32, with "
                      "--on-demand 8)");
  command->add_option("--budget", options->budget,
                      "Simulate at most this many days (default: 10000)");
  command
      ->add_option(
          "--start", options->search.starts,
          "Layouts to start from and to compare with; may be repeated (default for 8xA100-40GB: "
          "the published ones)")
      ->allow_extra_args(false);
  command->add_flag("--on-demand", options->on_demand,
                    "Find the sizes that jobs of each speed profile should ask for under the "
                    "policy on-demand, in place of layouts");
  command->add_option("--on-demand-rules", options->on_demand_rules,
                      "What follows the sizes in the policy's name, such as pack,strict,keep "
                      "(default: room,skip)");
  command->add_option("--mig-parted", options->mig_parted,
                      "Write the best layouts to this file, as the configuration 'smartmig' of "
                      "NVIDIA's mig-parted; GPUs are numbered as in --fleet");
  add_run_options(*command, options->run);
  add_day_options(*command, options->run, options->split_days);
  command->get_option("--days")->description(
      "Independent days to measure the result on (default: 10)");
  command->get_option("--out")->description(
      "A folder for search.json, compare.csv, compare.json and days.csv");
  add_examples(*command,
               {{"Find fixed layouts for your own jobs",
                 "smartmig search-static --jobs examples/week.sacct --fleet 8xA100-40GB"},
                {"Find the slice sizes that jobs should ask for",
                 "smartmig search-static --on-demand --workload paper --costs real --preemption "
                 "none"}});
  command->callback(
      [options, &action] { action = [options] { return run_search_static(*options); }; });
}

}  // namespace smartmig
