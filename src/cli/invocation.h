// How the program was called, for the end of its reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smartmig {

struct Invocation {
  std::vector<std::string> arguments;  // Without the program.
  std::string version;
};

// As a shell would take it: "smartmig compare --policy 'count/cedf' --out DIR". What cannot change
// a report is not in it, --threads and --json, nor the folder's name: the same inputs make the same
// bytes.
std::string shown_command(const Invocation& invocation);

// The text as one word of a shell: in quotes where the shell would read anything else.
std::string shell_word(std::string_view text);

}  // namespace smartmig
