#include "cli/command_page.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

// The parser's names of types are for programmers.
std::string shown_value(const CLI::Option& option) {
  if (option.get_type_name().empty()) return "";  // A flag.
  if (!option.get_option_text().empty()) return option.get_option_text();
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) return "NUMBER";
  if (type.starts_with("UINT") || type.starts_with("INT")) return "N";
  if (type.starts_with("BOOLEAN")) return "true|false";
  return "TEXT";
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_positional()) {
    entry.names = {option.get_option_text().empty() ? upper_case(option.get_name(true))
                                                    : option.get_option_text()};
  } else {
    entry.value = shown_value(option);
  }
  entry.text = option.get_description();
  entry.required = option.get_required();
  entry.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  if (entry.required && !option.get_positional()) entry.text += " (required)";
  std::vector<std::string> excluded;
  for (const CLI::Option* other : option.get_excludes()) excluded.push_back(other->get_name());
  if (!excluded.empty()) entry.text += " (not with " + join(excluded, ", ") + ")";
  return entry;
}

// The section of that title, made at its first use: sections keep the order of the parser.
template <class Section>
Section& section_of(std::vector<Section>& sections, const std::string& title) {
  const auto at = std::ranges::find(sections, title, &Section::title);
  if (at != sections.end()) return *at;
  sections.push_back({title, {}});
  return sections.back();
}

void read_path(const CLI::App& command, std::vector<std::string>& path) {
  if (command.get_parent() != nullptr) read_path(*command.get_parent(), path);
  path.push_back(command.get_name());
}

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); });
}

}  // namespace

std::string CommandPage::name() const { return join(path, " "); }

std::string CommandPage::usage() const {
  std::string text = name();
  if (!commands.empty()) return text + " COMMAND [OPTIONS]";
  text += " [OPTIONS]";
  for (const OptionEntry& argument : arguments) {
    const std::string word = argument.names.front() + (argument.repeats ? "..." : "");
    text += argument.required ? " " + word : " [" + word + "]";
  }
  return text;
}

CommandPage page_of(const CLI::App& command, const ExampleTable& examples) {
  CommandPage page;
  read_path(command, page.path);
  page.description = command.get_description();
  page.notes = command.get_footer();
  // --help is the first option that the parser knows of, and the least interesting: it goes last.
  std::vector<const CLI::Option*> options = command.get_options();
  std::ranges::stable_partition(
      options, [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
  for (const CLI::Option* option : options) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      page.arguments.push_back(entry_of(*option));
    } else {
      section_of(page.options, option->get_group()).options.push_back(entry_of(*option));
    }
  }
  for (const CLI::App* sub : commands_below(command)) {
    section_of(page.commands, sub->get_group())
        .commands.push_back({sub->get_name(), sub->get_description()});
  }
  if (const auto at = examples.find(&command); at != examples.end()) page.examples = at->second;
  return page;
}

std::vector<CommandPage> all_pages(const CLI::App& command, const ExampleTable& examples) {
  std::vector<CommandPage> pages = {page_of(command, examples)};
  for (const CLI::App* sub : commands_below(command)) {
    for (CommandPage& page : all_pages(*sub, examples)) pages.push_back(std::move(page));
  }
  return pages;
}

}  // namespace smartmig
