#include "cli/parse_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace smartmig {
namespace {

// The command that was being parsed: the last of "workload", "import".
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The parser's name of a type, in words.
std::string_view expected_value(const CLI::App& app, const std::string& option_name) {
  const CLI::Option* option = app.get_option_no_throw(option_name);
  const std::string type = option ? option->get_type_name() : "";
  if (type == "FLOAT") return "a number";
  if (type == "INT") return "a whole number";
  if (type == "UINT") return "a whole number, not negative";
  return "another value";
}

// "Could not convert: --rate = abc"
std::string explain_conversion(const CLI::App& app, const std::string& message) {
  constexpr std::string_view kStart = "Could not convert: ";
  const std::size_t equals = message.find(" = ");
  if (!message.starts_with(kStart) || equals == std::string::npos) return message;
  const std::string name = message.substr(kStart.size(), equals - kStart.size());
  return fmt::format("{}: found {}, expected {}", name, in_quotes(message.substr(equals + 3)),
                     expected_value(app, name));
}

}  // namespace

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = deepest(app);
  const std::string about =
      command.get_parent() ? fmt::format("{}: ", command.get_name()) : std::string();
  const auto rest = app.remaining(true);
  const auto commands = command_names(command);
  if (!commands.empty()) {
    if (rest.empty() || rest.front().starts_with("-")) {
      const std::string found =
          rest.empty() ? "" : fmt::format("found {}, ", in_quotes(rest.front()));
      return fmt::format("{}{}expected a command: {}; --help says more", about, found,
                         join(commands, ", "));
    }
    return fmt::format("{}unknown command {}{}", about, in_quotes(rest.front()),
                       suggestion(rest.front(), commands));
  }
  // By code: the parser puts the command's name in place of some errors' own.
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  if (is(CLI::ExitCodes::ExtrasError) && !rest.empty()) {
    const std::string word = rest.front().substr(0, rest.front().find('='));
    if (!word.starts_with("-")) {
      return fmt::format("{}found {}, expected options only", about, in_quotes(word));
    }
    const auto near = nearest(word, option_names(command));
    return fmt::format(
        "{}unknown option {}{}", about, in_quotes(word),
        near.empty() ? "; --help lists them" : fmt::format("; did you mean '{}'?", near));
  }
  std::string message = error.what();
  if (is(CLI::ExitCodes::ConversionError)) message = explain_conversion(command, message);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

std::string misread_number(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_name() != "UINT") continue;
    for (const std::string& text : option->results()) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc() && end == text.data() + text.size()) continue;
      return fmt::format("{}: found {}, expected a whole number from 0 to {}", option->get_name(),
                         in_quotes(text), UINT64_MAX);
    }
  }
  for (const CLI::App* sub : app.get_subcommands()) {
    if (std::string misread = misread_number(*sub); !misread.empty()) return misread;
  }
  return {};
}

}  // namespace smartmig
