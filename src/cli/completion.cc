#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/invocation.h"

namespace smartmig {
namespace {

// The words that may follow a command: subcommands and options.
std::vector<std::string> words_of(const CommandPage& page) {
  std::vector<std::string> words;
  for (const CommandSection& section : page.commands) {
    for (const CommandEntry& command : section.commands) words.push_back(command.name);
  }
  for (const OptionSection& section : page.options) {
    for (const OptionEntry& option : section.options)
      words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

// The options whose next word is their value.
std::vector<std::string> options_with_value(std::span<const CommandPage> pages) {
  std::vector<std::string> names;
  for (const CommandPage& page : pages) {
    for (const OptionSection& section : page.options) {
      for (const OptionEntry& option : section.options) {
        if (option.value.empty()) continue;
        for (const std::string& name : option.names) {
          if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
      }
    }
  }
  return names;
}

// The lines of a `case` over commands: which words follow each.
std::string case_lines(std::span<const CommandPage> pages) {
  std::string out;
  for (const CommandPage& page : pages)
    out += fmt::format("    {}) follow={} ;;\n", shell_word(page.name()),
                       shell_word(join(words_of(page), " ")));
  return out;
}

// A path counts as far as it names commands: the word after "smartmig compare" is none.
std::string bash_script(std::span<const CommandPage> pages) {
  std::string known;
  for (const CommandPage& page : pages) known += fmt::format("|{}", page.name());
  return fmt::format(R"(# Completion of smartmig for bash; made by `smartmig completion bash`.
_smartmig() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command=smartmig word follow
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case '{}|' in *"|$command $word|"*) command="$command $word" ;; esac
  done
  COMPREPLY=()
  case "$previous" in
    {}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$command" in
{}  esac
  COMPREPLY=($(compgen -W "$follow" -- "$current"))
  [[ ${{#COMPREPLY[@]}} -gt 0 || "$current" == -* ]] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _smartmig smartmig
)",
                     known, join(options_with_value(pages), "|"), case_lines(pages));
}

std::string zsh_script(std::span<const CommandPage> pages) {
  std::string known;
  for (const CommandPage& page : pages) known += fmt::format("|{}", page.name());
  return fmt::format(R"(#compdef smartmig
# Completion of smartmig for zsh; made by `smartmig completion zsh`.
_smartmig() {{
  local command=smartmig word follow
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case '{}|' in *"|$command $word|"*) command="$command $word" ;; esac
  done
  case "${{words[CURRENT-1]}}" in
    {}) _files; return ;;
  esac
  case "$command" in
{}  esac
  compadd -- ${{=follow}}
  [[ "$PREFIX" == -* ]] || _files
}}
compdef _smartmig smartmig
)",
                     known, join(options_with_value(pages), "|"), case_lines(pages));
}

// Conditions of fish: these words were typed, and none of those.
std::string fish_condition(const CommandPage& page) {
  if (page.path.size() == 1) return "__fish_use_subcommand";
  std::string out;
  for (std::size_t i = 1; i < page.path.size(); ++i)
    out += fmt::format("{}__fish_seen_subcommand_from {}", i > 1 ? "; and " : "", page.path[i]);
  for (const CommandSection& section : page.commands) {
    for (const CommandEntry& command : section.commands)
      out += fmt::format("; and not __fish_seen_subcommand_from {}", command.name);
  }
  return out;
}

std::string fish_script(std::span<const CommandPage> pages) {
  std::string out = "# Completion of smartmig for fish; made by `smartmig completion fish`.\n";
  for (const CommandPage& page : pages) {
    const std::string start =
        fmt::format("complete -c smartmig -n {}", shell_word(fish_condition(page)));
    for (const CommandSection& section : page.commands) {
      for (const CommandEntry& command : section.commands)
        out += fmt::format("{} -f -a {} -d {}\n", start, command.name, shell_word(command.text));
    }
    for (const OptionSection& section : page.options) {
      for (const OptionEntry& option : section.options) {
        out += start;
        for (const std::string& name : option.names)
          out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        out +=
            fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", shell_word(option.text));
      }
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(std::span<const CommandPage> pages,
                                      const std::string& shell) {
  if (shell == "bash") return bash_script(pages);
  if (shell == "zsh") return zsh_script(pages);
  if (shell == "fish") return fish_script(pages);
  return fail("completion: found {}, expected bash, zsh or fish", in_quotes(shell));
}

}  // namespace smartmig
