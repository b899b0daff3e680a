#include "cli/help.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/man_page.h"

namespace smartmig {
namespace {

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 30;  // Where the texts beside options start.

// `text` in lines of at most kHelpWidth - indent characters.
std::string wrapped_text(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kHelpWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// "  LEFT      text", with the text on a line of its own where LEFT is long.
std::string help_row(const std::string& left, std::string_view text) {
  std::string out = "  " + left;
  if (out.size() + 2 > kHelpColumn) {
    out += '\n' + std::string(kHelpColumn, ' ');
  } else {
    out.resize(kHelpColumn, ' ');
  }
  return out + wrapped_text(text, kHelpColumn) + '\n';
}

std::string shown_option(const OptionEntry& option) {
  std::string out = join(option.names, ", ");
  if (!option.value.empty()) out += ' ' + option.value;
  if (option.repeats) out += "...";
  return out;
}

// Holds what the parser has no place for; all commands of an app share their formatter.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return help_text(page_of(*app, examples));
  }
  ExampleTable examples;
};

HelpFormatter* formatter_of(const CLI::App& app) {
  return dynamic_cast<HelpFormatter*>(app.get_formatter().get());
}

const ExampleTable& examples_of(const CLI::App& app) {
  static const ExampleTable none;
  const HelpFormatter* formatter = formatter_of(app);
  return formatter != nullptr ? formatter->examples : none;
}

struct CommandKind {
  const char* title;
  std::vector<std::string> commands;
};
// In the order of help; a command that is in no list comes under "Other commands".
const std::vector<CommandKind>& command_kinds() {
  static const std::vector<CommandKind> kinds = {
      {"Boards and jobs", {"gpus", "profiles", "workload"}},
      {"Simulate and compare",
       {"simulate", "compare", "suite", "search-static", "report", "merge"}},
      {"Prove, learn and reproduce", {"bound", "train", "evaluate", "reproduce"}},
      {"Run the live controller",
       {"serve", "fleet", "agent", "agents", "doctor", "backup", "replay", "calibrate"}},
      {"Jobs of the live controller",
       {"submit", "jobs", "status", "explain", "logs", "usage", "cancel"}},
      {"Operate the live controller",
       {"plan", "apply", "hold", "unhold", "rollback", "export", "cordon", "drain", "uncordon",
        "adopt", "freeze", "unfreeze", "power-cap", "recover"}},
      {"Help", {"help", "completion"}},
  };
  return kinds;
}

struct HelpOptions {
  std::vector<std::string> command;
  bool man = false;
  std::string man_folder;
};

// The command of those words. The error is one line.
Result<const CLI::App*> find_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (next == nullptr)
      return fail("help: unknown command {}{}", in_quotes(word), suggestion(word, names));
    at = next;
  }
  return at;
}

Result<void> write_man_pages(const CLI::App& app, const std::string& folder,
                             const std::string& version) {
  const std::vector<CommandPage> pages = all_pages(app, examples_of(app));
  for (const CommandPage& page : pages) {
    const auto written =
        write_file(folder + "/" + man_page_name(page) + ".1", man_page(page, version));
    if (!written) return written;
  }
  return {};
}

int run_help(const CLI::App& app, const HelpOptions& options, const std::string& version) {
  if (!options.man_folder.empty()) {
    const auto written = write_man_pages(app, options.man_folder, version);
    return written ? 0 : bad_input(written.error().message);
  }
  const auto command = find_command(app, options.command);
  if (!command) return bad_input(command.error().message);
  const CommandPage page = page_of(**command, examples_of(app));
  fmt::print("{}", options.man ? man_page(page, version) : help_text(page));
  return 0;
}

int run_completion(const CLI::App& app, const std::string& shell) {
  const auto script = completion_script(all_pages(app, {}), shell);
  if (!script) return bad_input(script.error().message);
  fmt::print("{}", *script);
  return 0;
}

}  // namespace

void use_our_help(CLI::App& app) { app.formatter(std::make_shared<HelpFormatter>()); }

void add_examples(CLI::App& command, std::vector<Example> examples) {
  HelpFormatter* formatter = formatter_of(command);
  if (formatter != nullptr) formatter->examples[&command] = std::move(examples);
}

void group_options(CLI::App& command, const std::string& title,
                   const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (CLI::Option* option = command.get_option_no_throw(name)) option->group(title);
  }
}

void group_commands(CLI::App& app) {
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    sub->group("Other commands");
    for (const CommandKind& kind : command_kinds()) {
      if (std::ranges::find(kind.commands, sub->get_name()) != kind.commands.end())
        sub->group(kind.title);
    }
  }
}

void add_help(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* help = app.add_subcommand("help", "Show the help of a command");
  const auto options = std::make_shared<HelpOptions>();
  help->add_option("COMMAND", options->command,
                   "A command, such as compare or workload import (default: all commands)");
  help->add_flag("--man", options->man, "Print the manual page in the format of man(1)");
  help->add_option("--man-pages", options->man_folder,
                   "Write the manual pages of all commands into this folder")
      ->option_text("DIR");
  help->callback([&app, options, &action, &invocation] {
    action = [&app, options, &invocation] { return run_help(app, *options, invocation.version); };
  });
  add_examples(*help, {{"Show the options of compare", "smartmig help compare"},
                       {"Read its manual page", "smartmig help --man compare | man -l -"}});

  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes commands and options");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->callback(
      [&app, shell, &action] { action = [&app, shell] { return run_completion(app, *shell); }; });
  add_examples(*completion,
               {{"Complete in this shell (bash)", "source <(smartmig completion bash)"}});
}

std::string help_text(const CommandPage& page) {
  std::string out = page.description + "\n\nUsage: " + page.usage() + '\n';
  if (!page.arguments.empty()) {
    out += "\nArguments:\n";
    for (const OptionEntry& argument : page.arguments)
      out += help_row(shown_option(argument), argument.text);
  }
  for (const CommandSection& section : page.commands) {
    out += fmt::format("\n{}:\n", section.title);
    for (const CommandEntry& command : section.commands)
      out += help_row(command.name, command.text);
  }
  for (const OptionSection& section : page.options) {
    out += fmt::format("\n{}:\n", section.title);
    for (const OptionEntry& option : section.options)
      out += help_row(shown_option(option), option.text);
  }
  if (!page.notes.empty()) out += '\n' + page.notes + '\n';
  if (!page.examples.empty()) {
    out += "\nExamples:\n";
    for (const Example& example : page.examples)
      out += fmt::format("  {}:\n    {}\n", example.purpose, example.command);
  }
  if (page.path.size() == 1)
    out += "\nRun `smartmig help COMMAND` for the options of a command, with examples.\n";
  return out;
}

}  // namespace smartmig
