// The results of a suite as a table, as JSON, and as a page of docs/results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "study/suite.h"

namespace smartmig {

// docs/formats/suite.md has the keys.
nlohmann::ordered_json to_json(const std::vector<SuiteRow>& rows);
// A table, and under it what it says of each policy.
std::string to_text(const std::vector<SuiteRow>& rows);
// The same in Markdown, with every setting described.
std::string suite_markdown(const std::vector<SuiteRow>& rows);

// The drawn settings alone.
std::string to_text(const std::vector<SuiteSetting>& settings);

}  // namespace smartmig
