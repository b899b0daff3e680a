// `smartmig replay`: does a journal's every decision come out again? `smartmig backup`: a copy of
// it.
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

Result<JournalReader> open_journal(const std::string& path) {
  return std::filesystem::is_directory(path) ? JournalReader::open(path)
                                             : JournalReader::open_file(path);
}

int run_backup(const std::string& from, const std::string& to) {
  auto journal = open_journal(from);
  if (!journal) return bad_input(journal.error().message);
  if (const auto may = journal->check_target(to); !may) return bad_input(may.error().message);
  if (const auto copied = journal->back_up(to); !copied) return failed(copied.error().message);
  auto copy = JournalReader::open_file(to);
  if (!copy) return failed(copy.error().message);
  if (const auto whole = copy->verify(); !whole) return failed(whole.error().message);
  fmt::print("{}: a whole copy\n", to);
  return 0;
}

int run_replay(const ReplayOptions& options) {
  auto journal = open_journal(options.journal);
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
      app.add_subcommand("replay", "Repeat the decisions that a journal records, and compare");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("JOURNAL", options->journal, "A state folder, or a journal.db")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &action] { action = [options] { return run_replay(*options); }; });
}

void add_backup(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("backup", "Copy a journal, even while its controller runs");
  const auto from = std::make_shared<std::string>();
  const auto to = std::make_shared<std::string>();
  command->add_option("JOURNAL", *from, "A state folder, or a journal.db")->required();
  command->add_option("COPY", *to, "The file to write; replaced if it is there")->required();
  command->callback(
      [from, to, &action] { action = [from, to] { return run_backup(*from, *to); }; });
}

}  // namespace smartmig
