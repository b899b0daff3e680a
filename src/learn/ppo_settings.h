// What proximal policy optimisation can be told. The defaults are those of the course project that
// learned placement (8 environments, 4096 rows, 10 epochs, the schedules and the clip), and where
// it is silent the usual ones. Time is counted in decisions: one step of one environment.
#pragma once

#include <cstdint>
#include <string>

namespace smartmig {

// A value that moves on a straight line over the training.
struct Schedule {
  double from = 0;
  double to = 0;
  double at(double progress) const { return from + (to - from) * progress; }
};

struct PpoSettings {
  std::uint64_t seed = 1;
  std::int64_t steps = 500'000;  // In all, over all environments.
  int environments = 8;
  int rollout_steps = 1024;  // Of each environment, between two updates.
  int minibatch = 4096;
  int epochs = 10;
  // The environments begin anew every so many updates; a training can be taken up at these points.
  int restart_every = 8;

  double gamma = 0.99;
  double lambda = 0.95;
  Schedule learning_rate{3e-4, 1e-5};
  Schedule entropy{0.02, 0.001};  // Weight of the entropy in the objective.
  // Weight of the cross entropy to what a rule would choose, where the environment has one
  // (kickstarting, Schmitt et al. 2018).
  Schedule advice{0, 0};

  bool clipped = true;  // Else the divergence is penalised, with a weight that follows `kl_aim`.
  Schedule clip{0.15, 0.15};
  double kl_weight = 0.2;
  double kl_aim = 0.01;
  double kl_stop = 0;  // No further epoch once the mean divergence is over this; 0: all of them.

  double value_weight = 0.5;
  double value_clip = 0;  // 0: none.
  double gradient_limit = 0.5;
  bool normalise_observations = true;
  bool normalise_advantages = true;
  bool scale_rewards = true;  // By the spread of the discounted return so far.
  double reward_limit = 10;   // After scaling; 0: none.
  int keep_options = 0;       // Only so many of the most likely options of a head; 0: all.

  std::int64_t rollout_rows() const;
  std::int64_t iterations() const;  // Updates until `steps` are done.
};

// All of them in one line, for a checkpoint to know whether it fits.
std::string describe(const PpoSettings& settings);

}  // namespace smartmig
