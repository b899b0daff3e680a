// Proximal policy optimisation over a VectorEnvironment. The caller owns the loop:
//
//   Ppo ppo(settings, {.hidden = {64, 64}}, environment, pool);
//   while (!ppo.done()) {
//     curve.push_back(ppo.iterate());
//     if (ppo.can_be_saved()) write_safetensors(path, ppo.checkpoint());
//   }
//
// The state is one struct and holds no random stream: draws are numbered by iteration. Environments
// begin anew at every block of settings.restart_every iterations, so that a training that is
// stopped there and taken up again ends in the same bytes. So does one on another number of
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "learn/environment.h"
#include "learn/ppo_settings.h"
#include "learn/rollout.h"
#include "nn/adam.h"
#include "nn/network.h"
#include "nn/normaliser.h"
#include "nn/ppo_loss.h"
#include "nn/safetensors.h"

namespace smartmig {

// Hidden layers of the network; inputs and outputs are the environment's.
struct NetworkSettings {
  std::vector<int> hidden = {64, 64};
  Activation activation = Activation::kTanh;
  // Added at first to the logit of option i of head i: with a head for each present state, that
  // all stays as it is.
  double stay = 0;
};

struct PpoState {
  explicit PpoState(Network first) : network(std::move(first)) {}

  Network network;
  Adam adam;
  RunningNormaliser observations{network.shape().inputs};
  RunningNormaliser returns{1};   // Of discounted returns, for their spread.
  std::vector<float> discounted;  // Of each environment; 0 where a block begins.
  double kl_weight = 0;
  std::int64_t iteration = 0;
  std::int64_t steps = 0;
};

// One row of a learning curve.
struct PpoProgress {
  std::int64_t iteration = 0;
  std::int64_t steps = 0;
  double mean_return = 0;  // Of the episodes that ended in this iteration, and their ET.
  double mean_et = 0;
  std::int64_t episodes = 0;
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;
  double kl = 0;
  double clip_fraction = 0;
  double explained_variance = 0;
  double gradient_length = 0;  // Before it was clipped, the mean.
  std::int64_t skipped = 0;    // Minibatches left out because their gradient was not finite.
  double learning_rate = 0;
  double steps_per_s = 0;  // Of wall time: the one field that differs between runs.
};

class Ppo {
 public:
  Ppo(const PpoSettings& settings, const NetworkSettings& network, VectorEnvironment& environment,
      WorkerPool& pool);
  ~Ppo();

  const PpoSettings& settings() const { return settings_; }
  const PpoState& state() const { return state_; }
  bool done() const { return state_.iteration >= settings_.iterations(); }

  // Before the first iteration: goes on from what was learned elsewhere in the same shape.
  void begin_with(const Network& network, const RunningNormaliser& observations);
  // A rollout and the update from it.
  PpoProgress iterate();

  // Whether the next iteration begins a block.
  bool can_be_saved() const { return state_.iteration % settings_.restart_every == 0; }
  TensorFile checkpoint() const;  // Only where can_be_saved().
  // Takes up a checkpoint of the same settings and network; `name` is for the error line.
  Result<void> resume(const TensorFile& file, std::string_view name);

  // The network and what its inputs are normalised by: all that inference needs.
  void put_policy(TensorFile& file) const;

 private:
  struct Lane;
  struct Epoch {
    PpoLossSums sums;
    double gradient_length = 0;
    int minibatches = 0;
    int skipped = 0;
  };
  PpoLossWeights weights() const;
  double progress() const;
  Epoch run_epoch(const PpoLossWeights& weights, double learning_rate);
  void add_gradient(Lane& lane, const PpoLossWeights& weights, std::span<const std::uint32_t> rows,
                    std::size_t minibatch);
  void adapt_kl_weight(double kl);

  PpoSettings settings_;
  VectorEnvironment& environment_;
  WorkerPool& pool_;
  PpoState state_;
  Collector collector_;
  Rollout rollout_;
  std::vector<std::uint32_t> order_;  // Rows as an epoch takes them.
  std::vector<float> gradient_;
  std::vector<Lane> lanes_;
};

}  // namespace smartmig
