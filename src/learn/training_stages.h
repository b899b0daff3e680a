// What each kind of policy is learned in: a function for each, the one place to add another.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "learn/environment.h"
#include "learn/recipe.h"
#include "policy/policy_file.h"

namespace smartmig {

// What a stage has left behind: frozen under the next one, and where the next of its name begins.
struct TrainedLevel {
  LearnedPolicy policy;
  RunningNormaliser observations;
};
using Levels = std::map<std::string, TrainedLevel>;  // By stage name.

struct Stage {
  std::unique_ptr<VectorEnvironment> environment;
  LearnedSettings learned;
  std::string baseline;  // A rule for the same task, as a word of the registry.
  double baseline_et = 0;
};

inline constexpr const char* kLayouts = "layouts";
inline constexpr const char* kPlacer = "placer";
// The stages' names in order.
std::vector<std::string> stage_names(const Recipe& recipe);
// Errors: what the recipe names cannot be made.
Result<Stage> make_stage(const Recipe& recipe, const std::string& name, const Levels& levels);

}  // namespace smartmig
