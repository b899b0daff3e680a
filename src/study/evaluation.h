// What a learned policy is judged by: the setting of its recipe, and the rules that do the same
// task.
#pragma once

#include <string>
#include <vector>

#include "learn/recipe.h"
#include "policy/policy_file.h"

namespace smartmig {

struct Evaluation {
  Recipe recipe;       // Of its training; defaults where the file has none.
  std::string fleet;   // What the recipe was for.
  std::string policy;  // As a word of the registry.
};
// Errors are those of the file.
Result<Evaluation> read_evaluation(const std::string& path);

// The one to compare with first, then its rivals, `policy` second. `spec` may be any policy.
std::vector<std::string> with_rivals(const std::string& spec, const Fleet& fleet);

}  // namespace smartmig
