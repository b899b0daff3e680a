// What the parser found wrong, as one line in our words: the option or command, what was found,
// what was expected.
#pragma once

#include <string>

#include "cli/cli11.h"

namespace smartmig {

// `app` is the parser that threw `error`; what it had parsed by then says which command was meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

// A number that the parser took although it does not fit: it reads -1 as the largest unsigned
// number. "" where all is well.
std::string misread_number(const CLI::App& app);

}  // namespace smartmig
