// What kind of job a word of a file means.
#pragma once

#include <optional>
#include <string_view>

#include "workload/job.h"

namespace smartmig {

// "training" or "train", "inference" or "infer".
inline std::optional<JobKind> parse_kind(std::string_view word) {
  if (word == "training" || word == "train") return JobKind::kTraining;
  if (word == "inference" || word == "infer") return JobKind::kInference;
  return std::nullopt;
}

}  // namespace smartmig
