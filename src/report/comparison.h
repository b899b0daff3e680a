// A comparison of policies, for a reader and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/output_folder.h"
#include "study/compare.h"

namespace smartmig {

// A table with 95 % intervals, one with further quantities, and a line on what the numbers mean.
std::string to_text(const Comparison& comparison, double energy_weight);
// One sentence: the best policy by ET, and its margin over the next and over the first, with what
// chance allows. "" for a single policy. Names stand between `quote`s.
std::string best_text(const Comparison& comparison, std::string_view quote = "");
// One line: by how much each policy has fewer late jobs than the first.
std::string late_text(const Comparison& comparison);
// A list in the order of the policies; an interval that there is not is null.
nlohmann::ordered_json to_json(const Comparison& comparison);

// compare.csv (one row a policy), compare.json, days.csv (one row a policy and day);
// docs/formats/run-files.md.
std::vector<OutputFile> comparison_files(const Comparison& comparison);

}  // namespace smartmig
