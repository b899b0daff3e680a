#include "learn/ppo_settings.h"

#include <fmt/format.h>

namespace smartmig {

std::int64_t PpoSettings::rollout_rows() const {
  return static_cast<std::int64_t>(environments) * rollout_steps;
}

std::int64_t PpoSettings::iterations() const {
  return (steps + rollout_rows() - 1) / rollout_rows();
}

std::string describe(const PpoSettings& s) {
  return fmt::format(
      "seed {} steps {} environments {} rollout {} minibatch {} epochs {} restart {} gamma {} "
      "lambda {} learning rate {}..{} entropy {}..{} clipped {} clip {}..{} kl {} {} {} value {} "
      "{} gradient {} normalise {} {} scale {} {} keep {} advice {}..{}",
      s.seed, s.steps, s.environments, s.rollout_steps, s.minibatch, s.epochs, s.restart_every,
      s.gamma, s.lambda, s.learning_rate.from, s.learning_rate.to, s.entropy.from, s.entropy.to,
      s.clipped, s.clip.from, s.clip.to, s.kl_weight, s.kl_aim, s.kl_stop, s.value_weight,
      s.value_clip, s.gradient_limit, s.normalise_observations, s.normalise_advantages,
      s.scale_rewards, s.reward_limit, s.keep_options, s.advice.from, s.advice.to);
}

}  // namespace smartmig
