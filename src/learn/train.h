// From a recipe to a policy file. A training is a few stages, each PPO in one kind of environment:
// one for most kinds of policy, several in turns for two levels. What is learned depends on the
// recipe's text alone: not on threads, stops or the clock. Stopped at a block's end, it leaves a
// checkpoint beside the policy file and goes on from it to the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "learn/recipe.h"

namespace smartmig {

struct TrainingRow {
  std::string stage;            // "layouts" or "placer".
  std::int64_t iterations = 0;  // In all, over all stages.
  double baseline_et = 0;       // What the days cost that it learns on, by a rule.
  PpoProgress progress;         // Its iteration and steps count over all stages.
};

struct TrainingOptions {
  std::string out;  // The policy file; the checkpoint is this with ".checkpoint" behind it.
  int threads = 0;  // 0: one for each core.
  bool resume = false;
  std::int64_t stop_after = 0;      // Iterations; it ends with the block they end in. 0: never.
  std::function<bool()> stop = {};  // Asked after each iteration; the block still ends.
  std::function<void(const TrainingRow&)> watch = {};
};

struct TrainingResult {
  bool done = false;
  std::vector<PpoProgress> curve;  // From the first iteration on, also after a stop.
  std::vector<std::string> files;  // Policies where it is done, else the checkpoint.
  std::string baseline;
  double baseline_et = 0;  // Of the last stage's days.
};

std::string checkpoint_path(const std::string& out);
// Where the levels of a two-level policy go: "NAME-layouts.safetensors" for "NAME.safetensors".
std::string level_path(const std::string& out, const std::string& level);

// Errors are the user's (a recipe or checkpoint that does not fit, a file that cannot be written):
// those of the first kind come before anything is written.
Result<TrainingResult> train(const Recipe& recipe, const std::string& text,
                             const TrainingOptions& options);

// The same for the knobs of smartmig, which evolution finds: an iteration is a generation, and a
// block too. `watch` of the options is not called, `seen` is, with the generations in all.
struct KnobResult {
  bool done = false;
  std::vector<EvolutionProgress> curve;
  std::string file;  // The policy, or the checkpoint.
};
using KnobWatch = std::function<void(const EvolutionProgress&, std::int64_t generations)>;
Result<KnobResult> train_knobs(const Recipe& recipe, const std::string& text,
                               const TrainingOptions& options, const KnobWatch& seen = {});

}  // namespace smartmig
