#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/assumptions.h"
#include "cli/help.h"
#include "fleet/speeds.h"
#include "report/job_balance.h"
#include "study/fitting_jobs.h"
#include "study/gpu_events.h"
#include "study/split_days.h"

namespace smartmig {
namespace {

constexpr double kMaxSigma = 10;
constexpr double kMaxScale = 1000;
constexpr int kMaxThreads = 1024;
constexpr int kMaxDays = static_cast<int>(kTrainingDays);

Result<void> check_numbers(const RunOptions& options) {
  if (!(options.estimate_error >= 0 && options.estimate_error <= kMaxSigma)) {
    return fail("--estimate-error: found {}, expected a number from 0 to {}",
                options.estimate_error, kMaxSigma);
  }
  if (!(options.energy_weight >= 0 && options.energy_weight <= 1e9)) {
    return fail("--energy-weight: found {}, expected a number from 0 to 1e9",
                options.energy_weight);
  }
  if (!(options.cost_scale >= 0 && options.cost_scale <= kMaxScale)) {
    return fail("--cost-scale: found {}, expected a number from 0 to {}", options.cost_scale,
                kMaxScale);
  }
  if (!(options.power_scale > 0 && options.power_scale <= kMaxScale)) {
    return fail("--power-scale: found {}, expected a number above 0, at most {}",
                options.power_scale, kMaxScale);
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return fail("--threads: found {}, expected 0 (one for each core) to {}", options.threads,
                kMaxThreads);
  }
  return {};
}

// The jobs of a file that the fleet can run: one table, or one for each day.
struct FileJobs {
  std::vector<JobTable> tables;
  JobFile file;
};
Result<FileJobs> jobs_of_file(const WorkloadOptions& options, bool split, const Fleet& fleet) {
  auto imported = import_jobs(options);
  if (!imported) return pass_on(imported);
  FileJobs jobs;
  JobFile& file = jobs.file;
  file.trace = std::move(imported->report);
  file.counts = imported->counts;
  file.balance = balance_of(imported->table, imported->sources, fleet);
  file.balance.dropped = std::move(imported->dropped);
  // Days are cut first: a job that the fleet cannot run is part of its day's window all the same.
  if (split) {
    jobs.tables = split_days(imported->table);
  } else {
    jobs.tables.push_back(std::move(imported->table));
  }
  if (!file.balance.unfit.empty()) {
    for (JobTable& table : jobs.tables) table = fitting_jobs(table, fleet);
    std::erase_if(jobs.tables, [](const JobTable& table) { return table.jobs.empty(); });
  }
  if (jobs.tables.empty()) {
    return fail("{}: no job fits a slice of {}: {}", options.jobs, fleet.name(),
                file.balance.unfit.text());
  }
  file.as_it_was = as_it_was(jobs.tables);
  return jobs;
}

Result<StudyDays> days_of_file(const WorkloadOptions& options, bool split, const Fleet& fleet) {
  auto jobs = jobs_of_file(options, split, fleet);
  if (!jobs) return pass_on(jobs);
  std::vector<DayTable> tables;
  for (JobTable& table : jobs->tables)
    tables.push_back(std::make_shared<const JobTable>(std::move(table)));
  StudyDays days;
  days.count = tables.size();
  days.day = [tables](std::size_t day) -> Result<DayTable> { return tables[day]; };
  days.file = std::move(jobs->file);
  return days;
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  add_workload_options(app, options.workload);
  app.add_option("--fleet", options.fleet,
                 "GPUs, such as 4xA100-40GB+4xH100-80GB, or a file (default: 8xA100-40GB)");
  app.add_option(
      "--costs", options.costs,
      "What a change of layout, a checkpoint and a restore cost: free, paper, real, or a file "
      "(default: free for --workload paper, else real)");
  app.add_option(
      "--cost-scale", options.cost_scale,
      "Multiply the duration of every layout change, checkpoint and restore by this factor "
      "(default: 1)");
  app.add_option("--power-scale", options.power_scale,
                 "Multiply every board's power draw by this factor (default: 1)");
  app.add_option("--speed-factor", options.speed_factors,
                 "BOARD=X: divide the times of the job table by X on every slice of that board; "
                 "repeat it for other boards (default: the factors that `smartmig gpus` has)")
      ->allow_extra_args(false);
  app.add_option("--trace-board", options.trace_board,
                 "The board on whose slices the times of --jobs were taken (default: A100-40GB)");
  app.add_option(
      "--preemption", options.preemption,
      "How running jobs may be stopped: free, checkpoint or none (default: free for --workload "
      "paper, else checkpoint)");
  app.add_option(
      "--estimate-error", options.estimate_error,
      "Show policies run times with a lognormal error of this SIGMA (default: 0, exact times)");
  app.add_option(
      "--energy-weight", options.energy_weight,
      "Weight a in ET = (a*E + T)/(a + 1), with E in W*min and T in minutes (default: 2e-7)");
  app.add_option("--events", options.events,
                 "A CSV file of GPUs that fail and return: time_s,gpu,event");
  app.add_option("--tariff", options.tariff,
                 "A CSV file of energy prices: hour,price_per_kwh[,g_co2_per_kwh], 24 rows");
  app.add_option("--threads", options.threads,
                 "Number of threads; 0: one for each core (default: 0)");
  app.add_option("--out", options.out, "A folder for the result's files");
  app.add_flag("--json", options.json, "Print JSON (seconds, joules; et in the papers' units)");
  group_options(
      app, "Fleet and costs",
      {"--fleet", "--costs", "--cost-scale", "--power-scale", "--speed-factor", "--trace-board",
       "--preemption", "--estimate-error", "--energy-weight", "--events", "--tariff"});
  group_options(app, "Output", {"--out", "--json"});
}

void add_day_options(CLI::App& app, RunOptions& options, bool& split_days) {
  options.workload.days = 10;
  app.get_option("--days")->description(
      "Independent days, each of which starts with an empty fleet (default: 10)");
  app.add_flag("--split-days", split_days,
               "With --jobs: simulate each day of the file as a separate run");
}

Result<std::unique_ptr<RunSetup>> read_setup(const RunOptions& options) {
  if (const auto checked = check_numbers(options); !checked) return pass_on(checked);
  auto fleet = Fleet::parse(options.fleet);
  if (!fleet) return pass_on(fleet);
  if (!options.trace_board.empty() && options.workload.jobs.empty())
    return fail("--trace-board: is for --jobs; the generator's times are for an A100-40GB");
  if (!options.trace_board.empty() || !options.speed_factors.empty()) {
    fleet = fleet_with_speeds(*fleet, options.trace_board, options.speed_factors);
    if (!fleet) return pass_on(fleet);
  }
  auto setup = std::make_unique<RunSetup>(
      options.power_scale == 1 ? std::move(*fleet) : fleet->with_power_scaled(options.power_scale));
  const bool paper = options.workload.is_paper_generator();
  const auto costs = Costs::parse(options.costs.value_or(paper ? "free" : "real"));
  if (!costs) return pass_on(costs);
  const auto preemption =
      parse_preemption(options.preemption.value_or(paper ? "free" : "checkpoint"));
  if (!preemption) return pass_on(preemption);
  EngineOptions& engine = setup->settings.engine;
  engine.costs = costs->scaled(options.cost_scale);
  engine.preemption = *preemption;
  engine.estimate_sigma = options.estimate_error;
  engine.seed = options.workload.seed;
  setup->settings.energy_weight = options.energy_weight;
  if (!options.events.empty()) {
    auto events = read_gpu_events(options.events, setup->fleet);
    if (!events) return pass_on(events);
    engine.events = std::move(*events);
  }
  if (!options.tariff.empty()) {
    auto tariff = read_tariff(options.tariff);
    if (!tariff) return pass_on(tariff);
    setup->settings.tariff = std::move(*tariff);
  }
  return setup;
}

Result<std::optional<OutputFolder>> open_out(const RunOptions& options) {
  std::optional<OutputFolder> folder;
  if (options.out.empty()) return folder;
  auto opened = OutputFolder::open(options.out);
  if (!opened) return pass_on(opened);
  folder.emplace(std::move(*opened));
  return folder;
}

Result<RunJobs> read_jobs(const WorkloadOptions& options, const Fleet& fleet) {
  if (!options.jobs.empty()) {
    auto jobs = jobs_of_file(options, false, fleet);
    if (!jobs) return pass_on(jobs);
    return RunJobs{std::move(jobs->tables.front()), std::move(jobs->file)};
  }
  auto table = make_jobs(options, fleet, 0);
  if (!table) return pass_on(table);
  return RunJobs{std::move(*table), std::nullopt};
}

Result<StudyDays> read_days(const RunOptions& options, bool split, const Fleet& fleet) {
  if (!options.workload.jobs.empty()) return days_of_file(options.workload, split, fleet);
  if (split) return fail("--split-days: is for --jobs; generated days are independent as they are");
  StudyDays days;
  WorkloadOptions one_day = options.workload;
  if (one_day.days < 1 || one_day.days > kMaxDays) {
    return fail("--days: found {}, expected 1 to {}", one_day.days, kMaxDays);
  }
  days.count = static_cast<std::size_t>(one_day.days);
  one_day.days = 1;
  if (one_day.is_described()) {
    const auto described = read_described(one_day, fleet);
    if (!described) return pass_on(described);
    days.day = [jobs = *described](std::size_t day) -> Result<DayTable> {
      return std::make_shared<const JobTable>(jobs.day(day));
    };
    return days;
  }
  days.day = [one_day](std::size_t day) -> Result<DayTable> {
    auto table = make_jobs(one_day, day);
    if (!table) return pass_on(table);
    return std::make_shared<const JobTable>(std::move(*table));
  };
  // The options are wrong on every day or on none: said before anything runs.
  if (const auto first = days.day(0); !first) return pass_on(first);
  return days;
}

Result<void> check_recordable(const JobTable& jobs) {
  constexpr double kMaxYears = 10;
  TimeUs end_us = 0;
  for (const Job& job : jobs.jobs)
    end_us = std::max(end_us, job.submit_us + *std::ranges::max_element(job.time_us));
  const double years = to_s(end_us - jobs.jobs.front().submit_us) / 86400 / 365.25;
  if (years <= kMaxYears) return {};
  return fail("--out, --records: the jobs span {:.4g} years, expected at most {:g}", years,
              kMaxYears);
}

void set_file(Comparison& comparison, const StudyDays& days) {
  if (!days.file) return;
  comparison.balance = days.file->balance;
  comparison.as_it_was = days.file->as_it_was;
}

std::string describe_workload(const WorkloadOptions& options) {
  if (!options.jobs.empty()) return options.jobs;
  if (options.is_described()) return *options.workload;
  std::string rest;
  if (options.speeds.value_or("paper") == "linear") rest += ", linear speeds";
  if (options.job_times.value_or("paper") != "paper") rest += ", times " + *options.job_times;
  if (options.deadlines) rest += ", deadlines " + *options.deadlines;
  if (options.workload.value_or("paper") == "paper-fixed")
    return fmt::format("paper-fixed, {:g} jobs a minute{}", options.rate.value_or(8), rest);
  return fmt::format("paper, rate {:g}, {} day{}{}{}", options.rate.value_or(20), options.days,
                     options.days == 1 ? "" : "s", options.curve ? ", curve " + *options.curve : "",
                     rest);
}

std::string describe_fleet(const RunOptions& options, const Fleet& fleet) {
  if (options.power_scale == 1) return fleet.name();
  return fmt::format("{} at {:g} times the power", fleet.name(), options.power_scale);
}

std::string describe_run(const RunOptions& options, const RunSetup& setup) {
  const EngineOptions& engine = setup.settings.engine;
  return fmt::format("{}, seed {}; fleet {}, costs {}, preemption {}.",
                     describe_workload(options.workload), options.workload.seed,
                     describe_fleet(options, setup.fleet), engine.costs.name,
                     to_string(engine.preemption));
}

std::string describe_setting(const RunOptions& options, const RunSetup& setup,
                             const std::optional<JobFile>& file) {
  std::string text = describe_run(options, setup) + "\n";
  if (file) {
    text += balance_text(file->balance);
    if (file->trace) text += fmt::format("Real in the trace: {}.\n", join(file->trace->real, ", "));
    return text + assumptions_text(list_assumptions(options, setup, file));
  }
  for (const std::string& speed : speed_assumptions(setup.fleet))
    text += fmt::format("Speeds: {}.\n", speed);
  for (const std::string& assumed : board_assumptions(setup.fleet))
    text += fmt::format("Assumed, not measured: {}.\n", assumed);
  return text;
}

}  // namespace smartmig
