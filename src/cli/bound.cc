// `smartmig bound`: certified lower bounds for a workload.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "bound/certificate.h"
#include "bound/linearised.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/quantity_options.h"
#include "cli/run_options.h"
#include "fleet/speeds.h"
#include "report/bound_summary.h"
#include "report/job_balance.h"
#include "study/bound_days.h"

namespace smartmig {
namespace {

struct BoundOptions {
  RunOptions run;
  std::string certificate;
  std::string check;
  int rounds = 150;
  std::size_t stretches = 0;
  double program_step_s = 0;
  double program_limit_s = 20;
};

Result<void> check_numbers(const BoundOptions& options) {
  if (options.rounds < 1 || options.rounds > 100'000)
    return fail("--rounds: found {}, expected 1 to 100000", options.rounds);
  if (options.stretches > 1'000'000)
    return fail("--stretches: found {}, expected 0 to 1000000", options.stretches);
  if (!(options.program_limit_s >= 0) || options.program_limit_s > 1e6)
    return fail("--program-limit: found {}, expected 0 to 1e6 seconds", options.program_limit_s);
  if (!(options.program_step_s >= 0) || options.program_step_s > 1e6)
    return fail("--program-step: found {}, expected 0 to 1e6 seconds", options.program_step_s);
  return {};
}

int run_check(const BoundOptions& options, const BoundInput& input) {
  const auto text = read_file(options.check, kDocumentLimits);
  if (!text) return bad_input(text.error().message);
  const auto certificate = read_certificate(*text, options.check);
  if (!certificate) return bad_input(certificate.error().message);
  const auto verified = [&] {
    const Progress progress("bound: checking the certificate");
    return verify(input, *certificate, options.run.threads);
  }();
  if (options.run.json) {
    nlohmann::ordered_json json = {{"certificate", options.check}, {"holds", verified.has_value()}};
    if (!verified) json["why_not"] = verified.error().message;
    for (const CertifiedBound& bound : certificate->bounds)
      json[std::string(to_string(bound.objective))] = bound.value;
    fmt::print("{}\n", json.dump(2));
    return verified ? 0 : 1;
  }
  if (!verified) {
    return failed(fmt::format("{} does not hold: {}", options.check, verified.error().message));
  }
  for (const CertifiedBound& bound : certificate->bounds)
    fmt::print("{} >= {}: holds\n", to_string(bound.objective), bound.value);
  return 0;
}

// By energy, tardiness and ET, in this order. Errors are bad input.
Result<std::vector<CertifiedBound>> search_bounds(const BoundOptions& options,
                                                  const BoundInput& input) {
  AscentOptions ascent;
  ascent.threads = options.run.threads;
  ascent.rounds = options.rounds;
  ascent.finest = options.stretches;
  constexpr std::size_t kParts = 100;
  // The search for the least energy is over at once.
  Progress progress("bound: search", 2 * kParts, Progress::Shown::kPercent);
  std::vector<CertifiedBound> bounds;
  for (const Objective objective : {Objective::kEnergy, Objective::kTardiness, Objective::kEt}) {
    std::size_t shown = 0;
    auto bound = certify(input, objective, ascent, [&](double share) {
      for (; shown < static_cast<std::size_t>(share * kParts); ++shown) progress.step();
    });
    if (!bound) return pass_on(bound);
    bounds.push_back(std::move(*bound));
  }
  return bounds;
}

int run_bound(const BoundOptions& options) {
  if (const auto good = check_numbers(options); !good) return bad_input(good.error().message);
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  const Fleet& fleet = (*setup)->fleet;
  const EngineOptions& engine = (*setup)->settings.engine;
  const auto jobs = read_jobs(options.run.workload, fleet);
  if (!jobs) return bad_input(jobs.error().message);
  const BoundInput input = bound_input((*setup)->settings, jobs->table);
  if (!options.check.empty()) return run_check(options, input);
  if (const auto folder = std::filesystem::path(options.certificate).parent_path();
      !folder.empty() && !std::filesystem::is_directory(folder)) {
    return bad_input(fmt::format("--certificate: there is no folder '{}'", folder.string()));
  }

  const auto start = std::chrono::steady_clock::now();
  const auto bounds = search_bounds(options, input);
  if (!bounds) return bad_input(bounds.error().message);
  BoundSummary summary;
  summary.linearised_energy_j = linearised_energy_j(input);
  summary.linearised_applies = linearised_energy_applies(input);
  ProgramOptions program;
  program.step_s = options.program_step_s;
  program.limit_s = options.program_limit_s;
  {
    const Progress progress("bound: the published tardiness program");
    summary.program = solve_tardiness_program(input, program);
  }
  summary.energy_j = (*bounds)[0].value;
  summary.avg_tardiness_s = (*bounds)[1].value;
  summary.et = (*bounds)[2].value;
  summary.stretches = (*bounds)[2].prices.stretches();
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.workload = describe_workload(options.run.workload);
  summary.fleet = describe_fleet(options.run, fleet);
  summary.costs = engine.costs.name;
  summary.jobs = input.jobs.size();
  summary.energy_weight = input.energy_weight;
  summary.days = input.days;
  summary.gpus = fleet.gpu_count();
  summary.speeds = speed_assumptions(fleet);
  nlohmann::ordered_json json = to_json(summary);
  if (jobs->file) add_balance(json, jobs->file->balance);
  fmt::print("{}{}", options.run.json ? json.dump(2) + "\n" : to_text(summary),
             jobs->file && !options.run.json ? balance_text(jobs->file->balance) : "");
  if (!options.certificate.empty()) {
    const auto written = write_file(options.certificate, write_certificate(input, *bounds));
    if (!written) return failed(written.error().message);
  }
  return 0;
}

}  // namespace

void add_bound(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("bound", "Prove lower bounds for a workload: no schedule can do better");
  const auto options = std::make_shared<BoundOptions>();
  command->add_option(
      "--certificate", options->certificate,
      "Write a proof of the bounds to this file; a name that ends in .gz is compressed");
  CLI::Option* certificate = command->get_option("--certificate");
  command
      ->add_option("--check", options->check,
                   "Compute the bounds of this certificate again, for the same workload and "
                   "fleet; status 1: it does not hold")
      ->excludes(certificate);
  command->add_option("--rounds", options->rounds,
                      "Number of evaluations at the finest division of time (default: 150)");
  command->add_option(
      "--stretches", options->stretches,
      "Divide time into at most about this many stretches; 0: the number of jobs, from 64 to "
      "4096 (default: 0)");
  add_duration(*command, "--program-limit", options->program_limit_s,
               "Time for the published tardiness program, which is tried for up to 60 jobs; 0: "
               "leave it out (default: 20s)");
  add_duration(*command, "--program-step", options->program_step_s,
               "Its time step, which is also its error; 0: 60 steps (default: 0)");
  add_run_options(*command, options->run);
  for (const char* unused : {"--preemption", "--cost-scale", "--estimate-error", "--tariff"})
    command->get_option(unused)->description(
        "Accepted as in other commands; the bounds hold for every value");
  command->remove_option(command->get_option("--out"));
  add_examples(*command,
               {{"Prove bounds for a day, and keep the proof",
                 "smartmig bound --workload paper --seed 1 --certificate day.json"},
                {"Check the proof", "smartmig bound --workload paper --seed 1 --check day.json"}});
  command->callback([options, &action] { action = [options] { return run_bound(*options); }; });
}

}  // namespace smartmig
