// What the parser found wrong, as one line in our words: the option or command, what was found,
// what was expected.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace smartmig {

// `app` is the parser that threw `error`; what it had parsed by then says which command was meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace smartmig
