// `smartmig evaluate`: a policy against the rules that do the same task, on days it never saw.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/assumptions.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/run_options.h"
#include "report/comparison.h"
#include "study/evaluation.h"

namespace smartmig {
namespace {

struct EvaluateOptions {
  RunOptions run;
  std::string policy;
  bool fleet_given = false;
  bool split_days = false;
};

// What the user did not say is as in the policy's training.
void fill_in(const Evaluation& evaluation, EvaluateOptions& options) {
  const WorkloadRecipe& trained = evaluation.recipe.workload;
  options.policy = evaluation.policy;
  if (!options.fleet_given) options.run.fleet = evaluation.fleet;
  WorkloadOptions& workload = options.run.workload;
  if (!workload.is_paper_generator()) return;
  if (!workload.rate) workload.rate = trained.rates.front();
  if (!workload.deadlines) workload.deadlines = to_string(trained.deadlines);
  if (!workload.training_share) workload.training_share = trained.training_share;
  if (!options.run.costs) options.run.costs = trained.costs.name;
  if (!options.run.preemption) options.run.preemption = to_string(trained.preemption);
}

int run_evaluate(EvaluateOptions options) {
  if (std::filesystem::exists(options.policy)) {
    const auto evaluation = read_evaluation(options.policy);
    if (!evaluation) return bad_input(evaluation.error().message);
    fill_in(*evaluation, options);
  }
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  const auto specs = with_rivals(options.policy, fleet);
  const auto policies = make_policies((*setup)->settings, specs);
  if (!policies) return bad_input(policies.error().message);
  const auto days = read_days(options.run, options.split_days, fleet);
  if (!days) return bad_input(days.error().message);
  auto folder = open_out(options.run);
  if (!folder) return bad_input(folder.error().message);
  Result<Comparison> comparison = [&] {
    Progress progress("evaluate", days->count * policies->size());
    return compare((*setup)->settings, *policies, days->count, days->day, options.run.threads,
                   &progress);
  }();
  if (!comparison) return failed(comparison.error().message);
  set_file(*comparison, *days);
  comparison->assumptions = list_assumptions(options.run, **setup, days->file);
  if (*folder) {
    if (const auto written = (*folder)->write(comparison_files(*comparison)); !written)
      return failed(written.error().message);
  }
  if (options.run.json) {
    fmt::print("{}\n", to_json(*comparison).dump(2));
    return 0;
  }
  fmt::print("{}{}{}", to_text(*comparison, options.run.energy_weight), late_text(*comparison),
             describe_setting(options.run, **setup, days->file));
  if (options.run.workload.jobs.empty())
    fmt::print("No training day is among these: those have numbers from {} on.\n", kTrainingDays);
  return 0;
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "evaluate", "Measure a policy against others on days it was not trained on");
  const auto options = std::make_shared<EvaluateOptions>();
  command
      ->add_option("--policy", options->policy,
                   "A policy file, measured in the setting of its recipe unless options say "
                   "otherwise, or a policy as in compare")
      ->required();
  add_run_options(*command, options->run);
  add_day_options(*command, options->run, options->split_days);
  options->run.workload.days = 100;
  command->get_option("--days")->description(
      "Independent days, each of which starts with an empty fleet (default: 100)");
  command->get_option("--out")->description("A folder for compare.csv, compare.json and days.csv");
  add_examples(*command, {{"Measure a policy of yours on 100 days",
                           "smartmig evaluate --policy mine.safetensors --days 100"}});
  command->callback([options, command, &action] {
    options->fleet_given = command->get_option("--fleet")->count() > 0;
    action = [options] { return run_evaluate(*options); };
  });
}

}  // namespace smartmig
