// `smartmig replay`: does a journal's every decision come out again?
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "cli/cli.h"
#include "control/replay.h"

namespace smartmig {
namespace {

struct ReplayOptions {
  std::string journal;
  bool json = false;
};

int run_replay(const ReplayOptions& options) {
  const bool folder = std::filesystem::is_directory(options.journal);
  auto journal =
      folder ? JournalReader::open(options.journal) : JournalReader::open_file(options.journal);
  if (!journal) return bad_input(journal.error().message);
  const auto report = replay(*journal);
  if (!report) return bad_input(report.error().message);
  if (options.json) {
    nlohmann::json out = {{"events", report->events},       {"rounds", report->rounds},
                          {"decisions", report->decisions}, {"starts", report->begins},
                          {"same", !report->difference},    {"difference", nullptr}};
    if (report->difference) out["difference"] = *report->difference;
    fmt::print("{}\n", out.dump(2));
  } else if (!report->difference) {
    fmt::print(
        "{} decisions in {} rounds from {} events came out as they were, over {} start{} of a "
        "controller.\n",
        report->decisions, report->rounds, report->events, report->begins,
        report->begins == 1 ? "" : "s");
  }
  if (!report->difference) return 0;
  return options.json ? 1 : failed(*report->difference);
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("replay", "Decide again what a journal records, and compare");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("JOURNAL", options->journal, "A state folder, or a journal.db")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &action] { action = [options] { return run_replay(*options); }; });
}

}  // namespace smartmig
