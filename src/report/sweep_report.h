// A sweep, for a reader and for programs (docs/formats/sweep.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/output_folder.h"
#include "study/sweep.h"

namespace smartmig {

// A row for each point and policy; the knees; and, where there is a target, a sentence for each
// policy and each combination of the other values.
std::string to_text(const Sweep& sweep, const std::optional<SweepTarget>& target);
// The answers alone, one sentence each.
std::vector<std::string> answer_texts(const Sweep& sweep, const SweepTarget& target);
// The decision: which policy is best, and what it needs; a paragraph for each combination of the
// other values. Names stand between `quote`s. Without a target: by ET.
std::vector<std::string> decision_texts(const Sweep& sweep,
                                        const std::optional<SweepTarget>& target,
                                        std::string_view quote = "");
// How many jobs fit no slice and what becomes of them, a line; "" where all fit.
std::string unfit_text(const Sweep& sweep);
// A list with an object for each point and policy.
nlohmann::ordered_json to_json(const Sweep& sweep, const std::optional<SweepTarget>& target);

// sweep.csv and sweep.json.
std::vector<OutputFile> sweep_files(const Sweep& sweep, const std::optional<SweepTarget>& target);

}  // namespace smartmig
