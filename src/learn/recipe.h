// A training recipe: what is learned, on which jobs, by which method. TOML
// (docs/formats/recipe.md); what is left out has the defaults of the structs here, and a name that
// is not known is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/costs.h"
#include "learn/evolution.h"
#include "learn/ppo.h"
#include "learn/ppo_settings.h"
#include "workload/generator.h"

namespace smartmig {

enum class PolicyKind { kMeanField, kOneGpu, kPlacement, kTwoLevel, kSmartmig };
std::string_view to_string(PolicyKind kind);

struct PolicyRecipe {
  PolicyKind kind = PolicyKind::kMeanField;
  std::string board = "A100-40GB";
  // What it is learned beside: the placer under a partitioner, the partitioner over a placer.
  std::string placer = "cedf";
  std::string partitioner = "count";
};

struct WorkloadRecipe {
  std::string fleet = "8xA100-40GB";
  std::vector<double> rates = {20};  // Day i has rates[i % size].
  int days = 64;                     // In the pool that episodes are drawn from.
  std::uint64_t seed = 1;
  DeadlineRule deadlines;
  double training_share = 0.2;
  Costs costs;
  Preemption preemption = Preemption::kFree;
  double energy_weight = 2e-7;  // a of ET = (a E + T) / (a + 1), in W*min and minutes.
};

struct EvolutionRecipe {
  bool covariance = true;  // CmaEs; else OpenEs.
  EvolutionSettings settings;
  int days_per_generation =
      8;  // A sample's score is its mean over these; each generation has others.
  std::vector<std::string> cases;  // What it is scored on (knob_training.h); smartmig only.
  std::vector<double> start;       // Empty: the policy's own.
  std::vector<double> scales;      // Empty: the policy's own.
};

struct Recipe {
  PolicyRecipe policy;
  WorkloadRecipe workload;
  NetworkSettings network;
  // At least one of them.
  std::optional<PpoSettings> ppo;
  std::optional<EvolutionRecipe> evolution;
};

Result<Recipe> parse_recipe(std::string_view text, const std::string& name);
Result<Recipe> read_recipe(const std::string& path);

}  // namespace smartmig
