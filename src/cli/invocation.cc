#include "cli/invocation.h"

#include <string_view>

namespace smartmig {
namespace {

// Whether the argument is this option: by itself, or with its value behind a '='.
bool is_option(std::string_view argument, std::string_view name) {
  return argument.starts_with(name) &&
         (argument.size() == name.size() || argument[name.size()] == '=');
}

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string shown_command(const Invocation& invocation) {
  std::string out = "smartmig";
  for (std::size_t i = 0; i < invocation.arguments.size(); ++i) {
    const std::string& argument = invocation.arguments[i];
    const bool with_value = argument.find('=') != std::string::npos;
    if (is_option(argument, "--threads")) {
      if (!with_value) ++i;
    } else if (is_option(argument, "--out")) {
      if (!with_value) ++i;
      out += " --out DIR";
    } else if (argument != "--json") {
      out += ' ' + shell_word(argument);
    }
  }
  return out;
}

}  // namespace smartmig
