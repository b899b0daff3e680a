// A command's help as a manual page, in the macros of man(7).
#pragma once

#include <string>

#include "cli/command_page.h"

namespace smartmig {

// "smartmig-workload-import", without the section.
std::string man_page_name(const CommandPage& page);
std::string man_page(const CommandPage& page, const std::string& version);

}  // namespace smartmig
