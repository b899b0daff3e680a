// What the environments went through between two updates, and the worth of it. Arrays are by step,
// then environment: row = step * environments + environment. Observations and values go one step
// further than the rest: what is still to come after the last step is judged by its value.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/environment.h"
#include "learn/ppo_settings.h"
#include "nn/network.h"
#include "nn/normaliser.h"

namespace smartmig {

struct Rollout {
  std::size_t steps = 0;
  std::size_t environments = 0;
  std::vector<float> observations;  // As the network saw them.
  std::vector<std::uint8_t> masks;  // Narrowed to the options that were drawn from.
  std::vector<std::uint16_t> members;
  std::vector<std::uint16_t> counts;
  std::vector<std::uint16_t> advice;  // Empty unless it has a weight.
  std::vector<float> log_probabilities;
  std::vector<float> probabilities;  // Empty unless the objective needs them.
  std::vector<float> rewards;
  std::vector<std::uint8_t> ended;
  std::vector<float> values;
  std::vector<float> advantages;
  std::vector<float> returns;

  Rollout(const PpoSettings& settings, const VectorEnvironment& environment);
  std::size_t rows() const { return steps * environments; }
};

// Generalised advantages (Schulman et al. 2016) and returns = advantages + values, from rewards
// that are multiplied by `scale` and then cut to +-limit (0: not cut).
void find_advantages(Rollout& rollout, double gamma, double lambda, double scale, double limit);
// To mean 0 and spread 1.
void normalise(std::span<float> values);
// The share of the returns' variance that the values foretold: 1 all, 0 none, below 0 worse.
double explained_variance(const Rollout& rollout);

// Runs a network in environments. Draws come from a stream for each iteration and environment, so
// nothing of them has to be kept; environments are worked on in chunks of fixed size, so that the
// number of threads changes nothing. Allocates nothing after the first call.
class Collector {
 public:
  Collector(const PpoSettings& settings, VectorEnvironment& environment, WorkerPool& pool);

  // `observations` and `returns` learn from what is seen; `discounted` is each environment's return
  // so far.
  void collect(const Network& network, std::int64_t iteration, RunningNormaliser& observations,
               RunningNormaliser& returns, std::vector<float>& discounted, Rollout& out);

 private:
  struct Chunk {
    std::size_t begin = 0;
    std::size_t end = 0;
    Workspace workspace;
    std::vector<float> logits;
    std::vector<float> probabilities;
    std::vector<float> log_probabilities;
  };
  void see(Chunk& chunk, std::size_t step, const Network& network, Rollout& out);
  void choose(Chunk& chunk, std::size_t step, Rollout& out);

  PpoSettings settings_;
  VectorEnvironment& environment_;
  WorkerPool& pool_;
  std::size_t inputs_;
  ActionShape actions_;
  Normaliser normaliser_;
  std::vector<Chunk> chunks_;
  std::vector<Random> streams_;  // By environment.
};

}  // namespace smartmig
