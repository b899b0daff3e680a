// The help of every command: `--help`, `smartmig help [COMMAND]`, man pages and completions.
//
// A command is described where its options are: descriptions with units and defaults in the form
// "(default: 60)", `option_text("SECONDS")` for what a value is, `group("Output")` for the heading
// of an option, footer() for notes, and add_examples() for commands that a reader can copy.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command_page.h"

namespace smartmig {

// Sets up `app`, before commands are added to it, so that it and they print help in our form.
void use_our_help(CLI::App& app);

// Examples for the help of a command under such an app.
void add_examples(CLI::App& command, std::vector<Example> examples);

// Puts options of a command under a heading; names that the command does not have are left out.
void group_options(CLI::App& command, const std::string& title,
                   const std::vector<std::string>& names);

// Puts each command under the heading of its kind. After all commands are added.
void group_commands(CLI::App& app);

// `smartmig help` and `smartmig completion`. After all other commands.
void add_help(CLI::App& app, Action& action, const Invocation& invocation);

// At most 100 columns wide.
std::string help_text(const CommandPage& page);

}  // namespace smartmig
