#include "study/evaluation.h"

#include <algorithm>

#include "study/published.h"

namespace smartmig {
namespace {

std::string spec_of(LearnedKind kind, const std::string& path, const PolicyRecipe& recipe) {
  switch (kind) {
    case LearnedKind::kMeanField:
    case LearnedKind::kOneGpu:
      return fmt::format("{}:{}/{}", to_string(kind), path, recipe.placer);
    case LearnedKind::kPlacement:
      return fmt::format("static:{}/learned:{}", recipe.layouts, path);
    case LearnedKind::kSize:
      return fmt::format("count/learned:{}", path);
  }
  return "";
}

// The two files of a two-level policy, as `train` names them, whichever of them is given.
std::string two_level_spec(const std::string& path) {
  std::string stem = path;
  for (const char* level : {"-layouts.safetensors", "-placer.safetensors"}) {
    if (path.ends_with(level)) stem = path.substr(0, path.rfind(level));
  }
  return fmt::format("mean-field:{0}-layouts.safetensors/learned:{0}-placer.safetensors", stem);
}

}  // namespace

Result<Evaluation> read_evaluation(const std::string& path) {
  const auto file = read_safetensors(path);
  if (!file) return pass_on(file);
  const auto policy = get_policy(*file, path);
  if (!policy) return pass_on(policy);
  Evaluation evaluation;
  if (const auto recipe = file->metadata.find("recipe"); recipe != file->metadata.end()) {
    auto parsed = parse_recipe(recipe->second, fmt::format("{}: recipe", path));
    if (!parsed) return pass_on(parsed);
    evaluation.recipe = std::move(*parsed);
  }
  const LearnedSettings& settings = policy->settings;
  evaluation.fleet = settings.kind == LearnedKind::kOneGpu ? "1x" + settings.board
                                                           : evaluation.recipe.workload.fleet;
  evaluation.policy = evaluation.recipe.policy.kind == PolicyKind::kTwoLevel
                          ? two_level_spec(path)
                          : spec_of(settings.kind, path, evaluation.recipe.policy);
  return evaluation;
}

std::vector<std::string> with_rivals(const std::string& spec, const Fleet& fleet) {
  std::vector<std::string> policies;
  const std::size_t learned = spec.find("/learned");
  if (spec.starts_with("static:") && learned != std::string::npos) {
    // A placer on fixed layouts: others on the same.
    const std::string layouts = spec.substr(0, learned);
    for (const char* placer : {"slowest-on-time", "earliest-finish", "smallest-first", "random"})
      policies.push_back(fmt::format("{}/{}", layouts, placer));
  } else if (fleet.gpu_count() == 1 && fleet.board(0).name == "A100-40GB") {
    policies = one_gpu_policies();
  } else {
    policies = default_policies(fleet);
  }
  std::erase(policies, spec);
  policies.insert(policies.begin() + 1, spec);
  return policies;
}

}  // namespace smartmig
