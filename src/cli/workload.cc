#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/workload_options.h"
#include "workload/stats.h"

namespace smartmig {
namespace {

struct WorkloadCommand {
  WorkloadOptions options;
  std::string fleet = "8xA100-40GB";
  std::string out_file;  // "": standard output.
  bool json = false;
};

void print(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

void print_report(std::FILE* to, const SanityReport& report, bool json) {
  print(to, json ? to_json(report).dump(2) + "\n" : to_text(report));
}

// The table goes to the file or to standard output, the report to standard error; as JSON it takes
// standard output, which must be free then.
int write_table(const WorkloadCommand& command, const JobTable& table, const SanityReport& report) {
  if (command.json && command.out_file.empty()) {
    return bad_input("--json: needs --out-file, as standard output holds the job table");
  }
  const std::string text = format_job_table(table);
  if (command.out_file.empty()) {
    print(stdout, text);
  } else if (const auto written = write_file(command.out_file, text); !written) {
    return bad_input(written.error().message);
  }
  print_report(command.json ? stdout : stderr, report, command.json);
  return 0;
}

int run_generate(const WorkloadCommand& command) {
  const auto fleet = Fleet::parse(command.fleet);
  if (!fleet) return bad_input(fleet.error().message);
  const auto table = make_jobs(command.options, *fleet, 0);
  if (!table) return bad_input(table.error().message);
  const std::string source = fmt::format(
      "generated: {}, seed {}", command.options.workload.value_or("paper"), command.options.seed);
  return write_table(command, *table, {source, std::nullopt, std::nullopt, measure(*table)});
}

int run_import(const WorkloadCommand& command) {
  const auto imported = import_jobs(command.options);
  if (!imported) return bad_input(imported.error().message);
  return write_table(command, imported->table, sanity_report(command.options.jobs, *imported));
}

int run_stats(const WorkloadCommand& command) {
  const auto imported = import_jobs(command.options);
  if (!imported) return bad_input(imported.error().message);
  print_report(stdout, sanity_report(command.options.jobs, *imported), command.json);
  return 0;
}

}  // namespace

void add_workload(CLI::App& app, Action& action) {
  CLI::App* workload = app.add_subcommand("workload", "Generate, convert and inspect job tables");
  workload->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const WorkloadCommand&)) {
    CLI::App* sub = workload->add_subcommand(name, what);
    auto command = std::make_shared<WorkloadCommand>();
    sub->callback([&action, command, run] { action = [command, run] { return run(*command); }; });
    sub->add_flag("--json", command->json, "Print the report as JSON");
    add_drawn_options(*sub, command->options);
    return std::pair(sub, command);
  };
  const auto [generate, generated] = add("generate", "Generate a job table", run_generate);
  add_generator_options(*generate, generated->options);
  generate->add_option("--fleet", generated->fleet,
                       "The GPUs that the load of a workload file is for (default: 8xA100-40GB)");
  const auto [import, imported] = add("import", "Convert a trace to a job table", run_import);
  const auto [stats, looked] =
      add("stats", "Show what a job table or a trace holds and what looks odd in it", run_stats);
  for (const auto& [sub, command] : {std::pair(import, imported), std::pair(stats, looked)}) {
    sub->add_option("file", command->options.jobs, "Job table or trace, plain or gzip")->required();
    add_fill_options(*sub, command->options);
  }
  for (const auto& [sub, command] : {std::pair(generate, generated), std::pair(import, imported)}) {
    sub->add_option(
        "--out-file", command->out_file,
        "Write the job table to this file; a name that ends in .gz is compressed (default: "
        "standard output)");
  }
  add_examples(*generate, {{"Generate a day of jobs",
                            "smartmig workload generate --days 1 --seed 7 --out-file day.csv"}});
  add_examples(*import, {{"Convert a Slurm trace",
                          "smartmig workload import examples/week.sacct --out-file week.csv"}});
  add_examples(*stats, {{"See what a trace holds, and what is assumed about it",
                         "smartmig workload stats examples/week.sacct"}});
}

}  // namespace smartmig
