// `smartmig suite`: policies on settings that are drawn, against the best simple policy of each.
#include "study/suite.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/report_options.h"
#include "foresight/named_policies.h"
#include "report/output_folder.h"
#include "report/suite_report.h"
#include "workload/import.h"

namespace smartmig {
namespace {

constexpr int kMostSettings = 10'000;
constexpr std::int64_t kLeastBudget = 100;  // Every layout alike, on the training days.

struct SuiteCommand {
  SuiteOptions suite;
  std::vector<std::string> policies;
  int draw = 40;
  std::uint64_t seed = 1;
  int only = 0;  // 0: all.
  std::string ranges;
  std::string trace;
  std::string trace_days;
  std::string days = "20:200";
  int bound_days = 3;
  std::int64_t search_budget = 300;
  std::string cache;
  std::string cache_version;
  bool no_cache = false;
  bool list = false;
  bool json = false;
  int threads = 0;
  std::string out;
};

// "A:B", two whole numbers.
Result<std::pair<std::size_t, std::size_t>> parse_pair(std::string_view option,
                                                       const std::string& text, int low, int high) {
  const auto ends = split(text, ':');
  const auto first = parse_integer(ends.front());
  const auto last = parse_integer(ends.back());
  if (ends.size() != 2 || !first || !last || *first < low || *last < *first || *last > high) {
    return fail("{}: found {}, expected two whole numbers A:B with {} <= A <= B <= {}", option,
                in_quotes(text), low, high);
  }
  return std::pair(static_cast<std::size_t>(*first), static_cast<std::size_t>(*last));
}

Result<SuiteOptions> read_suite_options(const SuiteCommand& command) {
  SuiteOptions options = command.suite;
  if (command.draw < 1 || command.draw > kMostSettings)
    return fail("--draw: found {}, expected 1 to {}", command.draw, kMostSettings);
  if (command.only < 0 || command.only > command.draw)
    return fail("--only: found {}, expected a number from 1 to {}, the value of --draw",
                command.only, command.draw);
  if (command.threads < 0 || command.threads > 1024)
    return fail("--threads: found {}, expected 0 (one for each core) to 1024", command.threads);
  if (command.bound_days < 0 || command.bound_days > 200)
    return fail("--bound-days: found {}, expected 0 to 200", command.bound_days);
  if (command.search_budget != 0 && command.search_budget < kLeastBudget)
    return fail("--search-budget: found {}, expected 0 or at least {} simulated days",
                command.search_budget, kLeastBudget);
  const auto days = parse_pair("--days", command.days, 2, 10'000);
  if (!days) return pass_on(days);
  std::tie(options.min_days, options.max_days) = *days;
  options.bound_days = static_cast<std::size_t>(command.bound_days);
  options.search.budget = static_cast<std::size_t>(command.search_budget);
  options.threads = options.search.threads = command.threads;
  options.policy_digest = digest_of_policy_files;
  if (!command.policies.empty()) options.policies = command.policies;
  // A list of layouts is for one fleet, and every setting has its own.
  const Fleet fleet = Fleet::parse("8xA100-40GB").value();
  for (const std::string& policy : options.policies) {
    if (policy.starts_with("static:") || policy.starts_with("day-night:"))
      return fail("--policy: {} lists a layout for each GPU, expected one for any fleet", policy);
    if (const auto made = make_named_policy(policy, fleet); !made) return pass_on(made);
  }
  return options;
}

Result<SuiteRanges> read_ranges(const SuiteCommand& command) {
  if (command.ranges.empty()) return shipped_suite_ranges();
  const auto text = read_file(command.ranges, kDocumentLimits);
  if (!text) return pass_on(text);
  return parse_suite_ranges(*text, command.ranges);
}

// Nothing where no trace is given.
Result<std::unique_ptr<SuiteTrace>> read_suite_trace(const SuiteCommand& command) {
  if (command.trace.empty()) {
    if (!command.trace_days.empty()) return fail("--trace-days: is for --trace");
    return std::unique_ptr<SuiteTrace>();
  }
  const Progress progress("suite: reading the trace");
  auto read = read_trace(command.trace);
  if (!read) return fail("--trace: {}", read.error().message);
  auto trace = std::make_unique<SuiteTrace>();
  trace->trace = std::move(*read);
  trace->name = command.trace;
  const auto digest = digest_of_file(command.trace);
  if (!digest) return pass_on(digest);
  trace->digest = *digest;
  const TimeUs first_us = trace->trace.jobs.front().submit_us;
  trace->from_us = first_us;
  trace->to_us = trace->trace.jobs.back().submit_us + 1;
  if (command.trace_days.empty()) return trace;
  const auto days = parse_pair("--trace-days", command.trace_days, 1, 36'500);
  if (!days) return pass_on(days);
  trace->from_us = first_us + static_cast<TimeUs>(days->first - 1) * kDayUs;
  trace->to_us = std::min(trace->to_us, first_us + static_cast<TimeUs>(days->second) * kDayUs);
  if (trace->from_us >= trace->to_us) {
    return fail("--trace-days: found {}, expected days that {} has, which spans {:.3g} days",
                command.trace_days, command.trace,
                to_s(trace->trace.jobs.back().submit_us - first_us) / 86400);
  }
  return trace;
}

Result<std::vector<SuiteSetting>> draw_settings(const SuiteCommand& command,
                                                const SuiteRanges& ranges,
                                                const SuiteTrace* trace) {
  const Progress progress("suite: drawing settings");
  std::vector<SuiteSetting> settings;
  for (int number = 1; number <= command.draw; ++number) {
    if (command.only != 0 && number != command.only) continue;
    const auto drawn = static_cast<std::uint64_t>(number);
    if (trace == nullptr) {
      settings.push_back(draw_setting(ranges, command.seed, drawn));
      continue;
    }
    auto setting = draw_trace_setting(ranges, *trace, command.seed, drawn);
    if (!setting) return pass_on(setting);
    settings.push_back(std::move(*setting));
  }
  return settings;
}

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fmt::format("{}/smartmig/suite", cache);
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fmt::format("{}/.cache/smartmig/suite", home) : "";
}

// Everything that results depend on: this program, and the trace.
Result<SuiteCache> open_cache(const SuiteCommand& command, const SuiteTrace* trace,
                              const Invocation& invocation) {
  if (command.no_cache) return SuiteCache();
  const std::string folder = command.cache.empty() ? default_cache_folder() : command.cache;
  if (folder.empty()) return SuiteCache();
  if (const auto made = make_writable_folder(folder); !made)
    return fail("--cache: {}", made.error().message);
  std::string version = command.cache_version;
  if (version.empty()) {
    const auto program = digest_of_file("/proc/self/exe");
    if (!program) return SuiteCache();  // Another build could not be told from this one.
    version = fmt::format("{} {}", invocation.version, *program);
  }
  if (trace != nullptr) version += fmt::format(" {}", trace->digest);
  return SuiteCache(folder, version);
}

Result<std::vector<SuiteRow>> run_settings(const std::vector<SuiteSetting>& settings,
                                           const SuiteTrace* trace, const SuiteOptions& options,
                                           const SuiteCache& cache) {
  Progress progress("suite: settings", settings.size());
  std::vector<SuiteRow> rows;
  for (const SuiteSetting& setting : settings) {
    auto found = run_suite_setting(setting, trace, options, cache);
    if (!found) return fail("setting {}: {}", setting.name(), found.error().message);
    for (SuiteRow& row : *found) rows.push_back(std::move(row));
    progress.step();
  }
  return rows;
}

int print_settings(const SuiteCommand& command, const std::vector<SuiteSetting>& settings) {
  if (!command.json) {
    fmt::print("{}", to_text(settings));
    return 0;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SuiteSetting& setting : settings) list.push_back(to_json(setting));
  fmt::print("{}\n", list.dump(2));
  return 0;
}

int run_suite(const SuiteCommand& command, const Invocation& invocation) {
  const auto options = read_suite_options(command);
  if (!options) return bad_input(options.error().message);
  const auto ranges = read_ranges(command);
  if (!ranges) return bad_input(ranges.error().message);
  const auto trace = read_suite_trace(command);
  if (!trace) return bad_input(trace.error().message);
  const auto settings = draw_settings(command, *ranges, trace->get());
  if (!settings) return bad_input(settings.error().message);
  if (command.list) return print_settings(command, *settings);
  const auto cache = open_cache(command, trace->get(), invocation);
  if (!cache) return bad_input(cache.error().message);
  std::optional<OutputFolder> folder;
  if (!command.out.empty()) {
    auto opened = OutputFolder::open(command.out);
    if (!opened) return bad_input(opened.error().message);
    folder.emplace(std::move(*opened));
  }
  const auto rows = run_settings(*settings, trace->get(), *options, *cache);
  if (!rows) return failed(rows.error().message);
  const std::string json = to_json(*rows).dump(2) + "\n";
  if (folder) {
    const OutputFile files[] = {{"suite.json", json}, {"suite.md", suite_markdown(*rows)}};
    if (const auto written = folder->write(files); !written) return failed(written.error().message);
  }
  fmt::print("{}", command.json ? json : to_text(*rows));
  return 0;
}

void add_suite_options(CLI::App& app, SuiteCommand& command) {
  app.add_option("--draw", command.draw, "Number of settings to draw (default: 40)");
  app.add_option("--seed", command.seed, "Seed of the settings and of all runs (default: 1)");
  app.add_option("--policy", command.policies,
                 "A policy to judge, see below; may be repeated (default: smartmig)")
      ->allow_extra_args(false);
  app.add_option("--trace", command.trace,
                 "Draw windows of this trace in place of generated days; each fleet is sized by "
                 "the drawn load");
  app.add_option("--trace-days", command.trace_days,
                 "A:B: take the windows from day A to day B of the trace, counted from 1 (default: "
                 "all days)");
  app.add_option("--ranges", command.ranges,
                 "A JSON file of the ranges to draw from (default: data/suite.json, which is part "
                 "of the program)");
  app.add_option("--only", command.only,
                 "Run this setting alone, by its number from 1 (default: all that are drawn)");
  app.add_flag("--list", command.list, "Print the drawn settings and run nothing");
  app.add_option("--days", command.days,
                 "MIN:MAX generated days for each setting: as many as bring the interval of the "
                 "ratio to within 1.5 % of it; a trace has 8 draws (default: 20:200)");
  app.add_option("--bound-days", command.bound_days,
                 "Certify the lower bound on this many days, for fleets of up to 64 GPUs; 0: none "
                 "(default: 3)");
  app.add_option("--search-budget", command.search_budget,
                 "Simulate at most this many training days to find fixed layouts, for each of two "
                 "placers; 0: leave fixed layouts out (default: 300)");
  app.add_option("--cache", command.cache,
                 "A folder that keeps results by setting, policy and version (default: "
                 "$XDG_CACHE_HOME/smartmig/suite, else ~/.cache/smartmig/suite)");
  app.add_option("--cache-version", command.cache_version,
                 "The version that results are kept under (default: the program's version and the "
                 "SHA-256 of its file)");
  app.add_flag("--no-cache", command.no_cache, "Compute everything again and keep nothing");
  app.add_option("--threads", command.threads,
                 "Number of threads; 0: one for each core (default: 0)");
  app.add_option("--out", command.out, "A folder for suite.json and suite.md");
  app.add_flag("--json", command.json, "Print JSON (et in the papers' units, waits in seconds)");
  group_options(app, "Settings",
                {"--draw", "--seed", "--trace", "--trace-days", "--ranges", "--only", "--list"});
  group_options(app, "Cache", {"--cache", "--cache-version", "--no-cache"});
  group_options(app, "Output", {"--out", "--json"});
}

}  // namespace

void add_suite(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "suite", "Judge policies on drawn settings, against the best simple policy of each");
  const auto options = std::make_shared<SuiteCommand>();
  add_suite_options(*command, *options);
  command->footer(describe_named_policies());
  add_examples(*command,
               {{"Judge smartmig on 40 settings (about an hour on two cores)",
                 "smartmig suite --draw 40 --seed 7"},
                {"See what would be drawn", "smartmig suite --draw 5 --seed 7 --list"},
                {"Judge two policies on windows of a trace",
                 "smartmig suite --draw 10 --trace examples/week.sacct --policy smartmig --policy "
                 "count/cedf"}});
  command->callback([options, &action, &invocation] {
    action = [options, &invocation] { return run_suite(*options, invocation); };
  });
}

}  // namespace smartmig
