// What the verbs of the live controller share: where the controller is, how the answer is printed,
// and how a verb is put into the parser.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "cli/api_client.h"
#include "cli/cli.h"
#include "cli/help.h"

namespace smartmig {

inline const std::string kLiveApi = "/api/v1";

// Of every verb.
struct LiveOptions {
  ApiOptions api;
  bool dry_run = false;
  bool json = false;
};

// A field as text, fit for a terminal: what a server says may come from another user. "" where the
// field is missing or null.
std::string text_of(const nlohmann::json& value, const char* field);
// Prints the `lines` of an answer.
int print_lines(const nlohmann::json& answer);
// The path of a verb that changes something, as a rehearsal where that is wanted.
std::string rehearsed(const LiveOptions& options, const std::string& path);

// Asks, prints the answer as JSON where that is wanted, and else by `show`.
template <class Show>
int ask(const LiveOptions& options, const std::string& method, const std::string& path,
        const std::string& body, const Show& show) {
  const auto answer = ApiClient(options.api).ask_json(method, path, body);
  if (!answer) return failed(answer.error());
  if (options.json) {
    fmt::print("{}\n", printable_lines(answer->dump(2)));
    return 0;
  }
  return show(*answer);
}
// POST of a verb, whose answer is lines.
int run_command(const LiveOptions& options, const std::string& path, const nlohmann::json& body);

struct VerbText {
  std::string name;
  std::string what;                    // One line for the list of commands.
  std::vector<Example> examples = {};  // For the end of its help.
  std::string notes = {};              // Before them; "": none.
  bool changes = false;                // It has --dry-run.
  bool json = true;                    // It has --json.
};

// A verb with options of its own type, which is a LiveOptions.
template <class Options>
std::pair<CLI::App*, std::shared_ptr<Options>> add_verb(
    CLI::App& app, Action& action, const VerbText& text,
    const std::function<int(const Options&)>& run) {
  CLI::App* command = app.add_subcommand(text.name, text.what);
  const auto options = std::make_shared<Options>();
  LiveOptions& shared = *options;
  if (!text.notes.empty()) command->footer(text.notes);
  add_examples(*command, text.examples);
  command->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
  if (text.changes)
    command->add_flag("--dry-run", shared.dry_run, "Say what the command would do, and do nothing");
  if (text.json) command->add_flag("--json", shared.json, "Print the answer as JSON");
  add_api_options(*command, shared.api);
  return {command, options};
}

}  // namespace smartmig
