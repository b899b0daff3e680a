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
#include "learn/episodes.h"
#include "learn/evolution.h"
#include "learn/ppo.h"
#include "learn/ppo_settings.h"
#include "policy/knobs.h"
#include "workload/generator.h"

namespace smartmig {

enum class PolicyKind { kMeanField, kOneGpu, kPlacement, kTwoLevel, kSmartmig };
std::string_view to_string(PolicyKind kind);

struct PolicyRecipe {
  PolicyKind kind = PolicyKind::kMeanField;
  std::string board = "A100-40GB";
  // What layouts are learned beside, at first where there are two levels.
  std::string placer = "cedf";
  // Layouts: events between two decisions (none given: 5, `one-gpu` 1), and whether the length of
  // the queue is an input.
  std::optional<int> every;
  bool queue_length = true;
  // Placement: the fixed layouts, and whether slices that are taken are masked in training.
  std::string layouts = "7*2,4-3*2,4-2-1*2,2-2-2-1*2";
  bool mask = true;
  // In use: drawn from the `keep` most likely options (0: all), or the most likely.
  bool sample = true;
  int keep = 3;
  int turns = 3;  // Two levels: layouts, placer, layouts, ... so many times in all.
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
  EvolutionSettings settings;
  int days_per_generation =
      8;  // A sample's score is its mean over these; each generation has others.
  std::vector<std::string> cases;  // What it is scored on (knob_training.h); smartmig only.
};

// A number that the search leaves alone.
struct HeldKnob {
  Knob knob = {};
  double value = 0;
};

struct Recipe {
  PolicyRecipe policy;
  WorkloadRecipe workload;
  std::optional<RewardWeights> reward;  // None given: ET; placement: the share of late jobs.
  NetworkSettings network;
  // At least one of them.
  std::optional<PpoSettings> ppo;
  std::optional<EvolutionRecipe> evolution;
  std::vector<HeldKnob> held;  // smartmig: in both its searches.
};

Result<Recipe> parse_recipe(std::string_view text, const std::string& name);
Result<Recipe> read_recipe(const std::string& path);

}  // namespace smartmig
