// What a command's help says, as data: read from the parser's own tables, so that the help text,
// the man pages and the shell completions can never differ from what the parser accepts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/cli11.h"

namespace smartmig {

// A command line that works as it stands, and what it is good for.
struct Example {
  std::string purpose;
  std::string command;
};

// By command. The parser has no place for examples of its own.
using ExampleTable = std::map<const CLI::App*, std::vector<Example>>;

struct OptionEntry {
  std::vector<std::string> names;  // "-h", "--help"; of an argument its one name, such as "JOB".
  std::string value;               // What the option takes, such as "SECONDS"; "" for a flag.
  std::string text;                // With what is required and what excludes it.
  bool required = false;
  bool repeats = false;
};

struct OptionSection {
  std::string title;
  std::vector<OptionEntry> options;
};

struct CommandEntry {
  std::string name;
  std::string text;
};

struct CommandSection {
  std::string title;
  std::vector<CommandEntry> commands;
};

struct CommandPage {
  std::vector<std::string> path;  // "smartmig", "workload", "import".
  std::string description;
  std::vector<OptionEntry> arguments;
  std::vector<OptionSection> options;
  std::vector<CommandSection> commands;
  std::string notes;  // Lines that are laid out already.
  std::vector<Example> examples;

  std::string name() const;   // "smartmig workload import"
  std::string usage() const;  // "smartmig workload import [OPTIONS] FILE"
};

CommandPage page_of(const CLI::App& command, const ExampleTable& examples);

// The pages of a command and of all below it, in the order in which help lists them.
std::vector<CommandPage> all_pages(const CLI::App& command, const ExampleTable& examples);

}  // namespace smartmig
