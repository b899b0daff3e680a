// Finds the knobs of `smartmig` by evolution: first those for moves that are free, then those for
// moves that cost (`real`, with checkpoints). A sample's score is the mean over the recipe's cases
// of ln(mean ET) on a few days, which are others in each generation. Nothing but the recipe
// matters, so a search that is stopped and taken up, or run on more threads, ends in the same
// bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/worker_pool.h"
#include "fleet/fleet.h"
#include "learn/evolution.h"
#include "learn/recipe.h"
#include "policy/knobs.h"

namespace smartmig {

// A fleet and its jobs: "rate=20 deadlines=2:4 training_share=.5 fleet=4xA100-40GB
// estimate_error=.3 weight=2", each with the recipe's own value where it is left out.
struct KnobCase {
  Fleet fleet;
  GeneratorOptions workload;
  double estimate_error = 0;
  double weight = 1;
};
Result<KnobCase> parse_knob_case(std::string_view text, const WorkloadRecipe& defaults);

class KnobTraining {
 public:
  // `text` is the recipe's: a checkpoint goes on only under the recipe it was begun with.
  static Result<KnobTraining> make(const Recipe& recipe, std::string text);

  bool done() const { return search_ == kSearches; }
  // One generation of the search under way; the curve has one row more then.
  void step(WorkerPool& pool);
  std::int64_t generations() const { return kSearches * settings_.generations; }
  const std::vector<EvolutionProgress>& curve() const { return curve_; }
  TensorFile policy() const;  // When it is done.

  TensorFile checkpoint() const;
  Result<void> resume(const TensorFile& file, std::string_view name);

 private:
  static constexpr int kSearches = 2;  // Moves are free; moves cost.
  KnobTraining() = default;
  CmaEs begin_search(int search) const;
  Result<void> read_curve(const TensorFile& file, std::string_view name, std::int64_t rows);
  double score(std::span<const double> values, std::int64_t generation) const;
  Knobs with(std::span<const double> values) const;

  std::string text_;
  std::vector<EvolutionProgress> curve_;
  EvolutionSettings settings_;
  std::vector<double> scales_;  // Of all knobs.
  std::vector<KnobCase> cases_;
  int days_ = 1;
  std::uint64_t seed_ = 1;
  double energy_weight_ = 2e-7;
  SmartmigKnobs knobs_;  // Of the searches that are over; else where they start.
  int search_ = 0;
  std::vector<CmaEs> running_;  // The search under way, unless all are over.
};

}  // namespace smartmig
