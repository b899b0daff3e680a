// Scripts by which shells complete the command line, from the pages of all commands.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command_page.h"

namespace smartmig {

// For "bash", "zsh" or "fish". Commands, their subcommands and options are completed, and file
// names where a value or an argument is expected.
Result<std::string> completion_script(std::span<const CommandPage> pages, const std::string& shell);

}  // namespace smartmig
