// `smartmig reproduce`: published tables and figures, ours beside theirs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/comparison_run.h"
#include "cli/help.h"
#include "cli/report_options.h"
#include "report/reproduction.h"
#include "report/reproduction_page.h"

namespace smartmig {
namespace {

struct ReproduceOptions {
  std::vector<std::string> items;
  bool all = false;
  bool list = false;
  bool quick = false;
  int threads = 0;
  std::string out;
  bool json = false;
};

// `smartmig compare WORDS`, but for the printing.
Result<Comparison> compare_words(const std::string& words, int threads, const std::string& what) {
  const auto prepared = prepare_words(words, threads);
  if (!prepared) return pass_on(prepared);
  return run(*prepared, what);
}

Result<std::vector<const PublishedItem*>> chosen_items(const ReproduceOptions& options) {
  std::vector<std::string> names;
  for (const PublishedItem& item : published_items()) names.push_back(item.name);
  for (const std::string& name : options.items) {
    if (std::ranges::find(names, name) == names.end())
      return fail("unknown item '{}'{}", name, suggestion(name, names));
  }
  if (options.all == !options.items.empty())
    return fail("reproduce: expected items by name, or --all (--list names them)");
  std::vector<const PublishedItem*> chosen;
  for (const PublishedItem& item : published_items()) {
    if (options.all || std::ranges::find(options.items, item.name) != options.items.end())
      chosen.push_back(&item);
  }
  return chosen;
}

std::string command_of(const ReproduceOptions& options) {
  std::string command = "smartmig reproduce";
  for (const std::string& item : options.items) command += " " + item;
  if (options.all) command += " --all";
  if (options.quick) command += " --quick";
  return command;
}

int run_reproduce(const ReproduceOptions& options, const Invocation& invocation) {
  if (options.list) {
    fmt::print("{}", list_text(published_items()));
    return 0;
  }
  const auto chosen = chosen_items(options);
  if (!chosen) return bad_input(chosen.error().message);
  if (options.threads < 0 || options.threads > 1024)
    return bad_input("--threads: expected 0 (one for each core) to 1024");
  std::optional<OutputFolder> folder;
  if (!options.out.empty()) {
    auto opened = OutputFolder::open(options.out);
    if (!opened) return bad_input(opened.error().message);
    folder.emplace(std::move(*opened));
  }
  Reproduction reproduction;
  reproduction.command = command_of(options);
  for (const PublishedItem* item : *chosen) {
    auto made = reproduce(*item, options.quick, [&](const std::string& words) {
      return compare_words(words, options.threads, "reproduce " + item->name);
    });
    if (!made) return failed(made.error().message);
    reproduction.items.push_back({item, std::move(made->rows), std::move(made->curves)});
  }
  if (folder) {
    std::vector<OutputFile> files = reproduction_files(reproduction);
    files.push_back({"report.html", reproduction_page(reproduction, origin_of(invocation))});
    if (const auto written = folder->write(files); !written) return failed(written.error().message);
  }
  fmt::print("{}", options.json ? to_json(reproduction).dump(2) + "\n" : to_text(reproduction));
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "Reproduce published tables and figures, and show ours beside theirs");
  const auto options = std::make_shared<ReproduceOptions>();
  command->add_option("items", options->items, "Items such as fig2 or table1; --list names them");
  command->add_flag("--all", options->all, "Every item (some minutes on two cores)");
  command->add_flag("--list", options->list, "Name the items, run nothing");
  command->add_flag("--quick", options->quick,
                    "Fewer days: wider intervals, the same code (--all: about a minute)");
  command->add_option("--threads", options->threads,
                      "Number of threads; 0: one for each core (default: 0)");
  command->add_option("--out", options->out,
                      "A folder for report.html, reproduction.md and reproduction.json");
  command->add_flag("--json", options->json, "Print a list of all numbers as JSON");
  add_examples(*command, {{"List what can be reproduced", "smartmig reproduce --list"},
                          {"Reproduce one figure, quickly", "smartmig reproduce fig2 --quick"}});
  command->callback([options, &action, &invocation] {
    action = [options, &invocation] { return run_reproduce(*options, invocation); };
  });
}

}  // namespace smartmig
