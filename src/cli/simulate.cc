// `smartmig simulate`: one policy on one workload.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "cli/assumptions.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/report_options.h"
#include "cli/run_options.h"
#include "fleet/speeds.h"
#include "foresight/named_policies.h"
#include "report/report_page.h"
#include "report/run_files.h"
#include "report/timeline.h"

namespace smartmig {
namespace {

struct SimulateOptions {
  RunOptions run;
  ReportOptions report;
  std::string policy = "count/cedf";
  bool records = false;
};

Result<void> run_with_progress(Engine& engine) {
  constexpr std::size_t kChunk = 1024;  // Jobs; the clock is not to be read at every event.
  const std::size_t chunks = engine.jobs().jobs.size() / kChunk + 1;
  Progress progress("simulate: thousands of jobs done", chunks);
  for (std::size_t shown = 0; engine.step();) {
    if (engine.completed() / kChunk <= shown) continue;
    ++shown;
    progress.step();
  }
  return engine.run();  // At its end already: says whether a job was left.
}

std::vector<OutputFile> output_files(const Engine& engine, const RunSummary& summary,
                                     const ReportContext& context) {
  PolicyPictures pictures;
  pictures.shapes = {summary.policy, 1, shapes_of(engine)};
  pictures.timelines =
      timeline_widgets(engine, {"timeline-0", summary.policy, "The whole run."}, timeline_room(1));
  std::vector<OutputFile> files = run_files(engine);
  files.push_back({"report.html", run_page(summary, pictures, context)});
  return files;
}

// What the run was asked for and what it rests on; the metrics are added after it.
RunSummary describe(const SimulateOptions& options, const RunSetup& setup,
                    const std::optional<JobFile>& file) {
  const RunSettings& settings = setup.settings;
  RunSummary summary;
  summary.policy = options.policy;
  summary.workload = describe_workload(options.run.workload);
  summary.fleet = describe_fleet(options.run, setup.fleet);
  summary.costs = settings.engine.costs.name;
  summary.preemption = to_string(settings.engine.preemption);
  summary.seed = options.run.workload.seed;
  summary.energy_weight = settings.energy_weight;
  summary.gpu_events = settings.engine.events.size();
  if (settings.tariff) {
    summary.priced = true;
    summary.currency = settings.tariff->currency;
    summary.carbon = settings.tariff->g_co2_per_kwh.has_value();
  }
  if (file) {
    summary.trace = file->trace;
    summary.balance = file->balance;
    summary.as_it_was = file->as_it_was;
  }
  summary.speeds = speed_assumptions(setup.fleet);
  summary.assumed = board_assumptions(setup.fleet);
  summary.assumptions = list_assumptions(options.run, setup, file);
  return summary;
}

int run_simulate(const SimulateOptions& options, const Invocation& invocation) {
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  RunSettings& settings = (*setup)->settings;
  const auto policy =
      make_named_policy(options.policy, fleet, {settings.energy_weight, settings.engine.seed});
  if (!policy) return bad_input(policy.error().message);
  const auto jobs = read_jobs(options.run.workload, fleet);
  if (!jobs) return bad_input(jobs.error().message);
  if (const auto known = check_requests(*policy, jobs->table); !known)
    return bad_input(known.error().message);
  if (options.records || !options.run.out.empty()) {
    if (const auto good = check_recordable(jobs->table); !good)
      return bad_input(good.error().message);
  }
  ReportContext context;
  if (!options.run.out.empty()) {
    auto read = read_report_context(options.report, options.run, **setup, jobs->file,
                                    std::span(&options.policy, 1), invocation);
    if (!read) return bad_input(read.error().message);
    context = std::move(*read);
  } else if (!options.report.learning_curve.empty()) {
    return bad_input("--learning-curve: is for the report, expected --out as well");
  }
  auto folder = open_out(options.run);
  if (!folder) return bad_input(folder.error().message);
  settings.engine.records = options.records || *folder;
  settings.engine.hourly_energy = settings.tariff.has_value();
  settings.engine.stays = folder->has_value();

  RunSummary summary = describe(options, **setup, jobs->file);
  const auto start = std::chrono::steady_clock::now();
  Engine engine(fleet, jobs->table, *policy, settings.engine);
  if (const auto done = run_with_progress(engine); !done) return failed(done.error().message);
  summary.metrics = measure(engine, settings.energy_weight);
  if (settings.tariff) price(*settings.tariff, engine.energy_by_hour_j(), summary.metrics);
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (engine.records()) summary.means = engine.records()->means();
  if (*folder) {
    if (const auto written = (*folder)->write(output_files(engine, summary, context)); !written)
      return failed(written.error().message);
  }
  fmt::print("{}", options.run.json ? to_json(summary).dump(2) + "\n" : to_text(summary));
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* command = app.add_subcommand("simulate", "Simulate one policy on one workload");
  const auto options = std::make_shared<SimulateOptions>();
  command->add_option("--policy", options->policy, "The policy, see below (default: count/cedf)");
  add_run_options(*command, options->run);
  command->get_option("--threads")
      ->description("Accepted as in other commands; one run uses one thread (default: 0)");
  command->get_option("--out")->description(
      "A folder for report.html, jobs.csv, layouts.csv, energy.csv and timeline.csv");
  add_report_options(*command, options->report);
  command->add_flag(
      "--records", options->records,
      "Also measure utilisation, fragmentation and the queue over the run (--out turns it on)");
  command->footer(describe_named_policies());
  add_examples(*command,
               {{"Simulate a day of the papers' workload",
                 "smartmig simulate --policy smartmig --fleet 8xA100-40GB"},
                {"Simulate your own jobs, and write a report",
                 "smartmig simulate --jobs examples/week.sacct --policy smartmig --out run"}});
  command->callback([options, &action, &invocation] {
    action = [options, &invocation] { return run_simulate(*options, invocation); };
  });
}

}  // namespace smartmig
