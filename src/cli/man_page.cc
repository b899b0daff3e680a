#include "cli/man_page.h"

#include <fmt/format.h>

#include "base/text.h"

namespace smartmig {
namespace {

// Text that troff prints as it is: backslashes and hyphens have meanings, and so has a dot or a
// quote at the start of a line.
std::string troff_text(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// Lines that are laid out already, in the type of a terminal.
std::string troff_lines(std::string_view lines) { return ".nf\n" + troff_text(lines) + "\n.fi\n"; }

std::string man_entry(const OptionEntry& option) {
  std::string left = ".B " + troff_text(join(option.names, ", "));
  if (!option.value.empty())
    left = fmt::format(".BI \"{} \" \"{}\"", troff_text(join(option.names, ", ")),
                       troff_text(option.value));
  return fmt::format(".TP\n{}\n{}\n", left, troff_text(option.text));
}

std::string man_options(const CommandPage& page) {
  std::string out;
  if (!page.arguments.empty()) {
    out += ".SH ARGUMENTS\n";
    for (const OptionEntry& argument : page.arguments) out += man_entry(argument);
  }
  out += ".SH OPTIONS\n";
  for (const OptionSection& section : page.options) {
    if (page.options.size() > 1) out += fmt::format(".SS {}\n", troff_text(section.title));
    for (const OptionEntry& option : section.options) out += man_entry(option);
  }
  return out;
}

std::string man_commands(const CommandPage& page) {
  std::string out = ".SH COMMANDS\n";
  for (const CommandSection& section : page.commands) {
    if (page.commands.size() > 1) out += fmt::format(".SS {}\n", troff_text(section.title));
    for (const CommandEntry& command : section.commands)
      out += fmt::format(".TP\n.B {}\n{}\n", troff_text(command.name), troff_text(command.text));
  }
  return out;
}

}  // namespace

std::string man_page_name(const CommandPage& page) { return join(page.path, "-"); }

std::string man_page(const CommandPage& page, const std::string& version) {
  const std::string name = man_page_name(page);
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // The name's line is one line, whatever the description is.
  std::string line = page.description;
  for (char& c : line) c = c == '\n' ? ' ' : c;
  std::string out = fmt::format(
      ".TH {} 1 \"\" \"smartmig {}\" \"smartmig manual\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B "
      "{}\n",
      troff_text(title), version, troff_text(name), troff_text(line), troff_text(page.usage()));
  if (!page.commands.empty()) out += man_commands(page);
  out += man_options(page);
  if (!page.notes.empty()) out += ".SH NOTES\n" + troff_lines(page.notes);
  if (!page.examples.empty()) {
    out += ".SH EXAMPLES\n";
    for (const Example& example : page.examples)
      out += fmt::format("{}:\n.PP\n.RS\n{}.RE\n.PP\n", troff_text(example.purpose),
                         troff_lines(example.command));
  }
  out +=
      ".SH EXIT STATUS\n0: done. 1: the command failed. 2: bad input; one line on standard error "
      "says what was found and what was expected, and nothing was written.\n";
  if (page.path.size() > 1) out += ".SH SEE ALSO\n.BR smartmig (1)\n";
  return out;
}

}  // namespace smartmig
