// Everything that a result rests on and that a user may have left to a default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.h"
#include "study/assumption.h"

namespace smartmig {

// `file` is empty for the generator. To add one: append it here, and every page, the JSON of
// `simulate`, `compare`, `evaluate` and `search-static`, and the text under a trace's table have
// it.
std::vector<Assumption> list_assumptions(const RunOptions& options, const RunSetup& setup,
                                         const std::optional<JobFile>& file);

// A line for each, indented.
std::string assumptions_text(const std::vector<Assumption>& assumptions);

}  // namespace smartmig
