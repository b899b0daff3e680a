#include "learn/rollout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/toy_environment.h"

namespace smartmig {
namespace {

Rollout small_rollout() {
  PpoSettings settings;
  settings.rollout_steps = 4;
  settings.environments = 2;
  const ToyEnvironment<BanditTask> environment(2, 1);
  Rollout rollout(settings, environment);
  rollout.rewards = {1, 0, 2, 0, 3, 5, 4, 100};
  rollout.values = {0.5F, 0, 1, 0, 1.5F, 0, 2, 1, 3, 10};
  rollout.ended = {0, 0, 1, 0, 0, 0, 0, 0};
  return rollout;
}

// Environment 0 worked out by hand, gamma .5 and lambda .8: its episode ends with its second step.
TEST(Rollout, FindsAdvantagesAcrossTheEndOfAnEpisode) {
  Rollout rollout = small_rollout();
  find_advantages(rollout, 0.5, 0.8, 1, 0);
  const double a3 = 4 + 0.5 * 3 - 2;
  const double a2 = 3 + 0.5 * 2 - 1.5 + 0.4 * a3;
  const double a1 = 2 - 1;
  const double a0 = 1 + 0.5 * 1 - 0.5 + 0.4 * a1;
  EXPECT_NEAR(rollout.advantages[6], a3, 1e-6);
  EXPECT_NEAR(rollout.advantages[4], a2, 1e-6);
  EXPECT_NEAR(rollout.advantages[2], a1, 1e-6);
  EXPECT_NEAR(rollout.advantages[0], a0, 1e-6);
  EXPECT_NEAR(rollout.returns[0], a0 + 0.5, 1e-6);
}

// With lambda 1 an advantage is the discounted sum of what follows, less the value.
TEST(Rollout, SumsRewardsWhereLambdaIsOne) {
  Rollout rollout = small_rollout();
  find_advantages(rollout, 0.9, 1, 0.5, 10);
  // 100 * .5 is cut to 10.
  const double sum = 0 + 0.81 * 2.5 + 0.729 * 10 + std::pow(0.9, 4) * 10;
  EXPECT_NEAR(rollout.returns[1], sum, 1e-5);
}

TEST(Rollout, KnowsHowMuchTheValuesForetold) {
  Rollout rollout = small_rollout();
  for (std::size_t i = 0; i < rollout.rows(); ++i) {
    rollout.returns[i] = static_cast<float>(i);
    rollout.values[i] = static_cast<float>(i) + 3;
  }
  EXPECT_NEAR(explained_variance(rollout), 1, 1e-9);
  for (std::size_t i = 0; i < rollout.rows(); ++i) rollout.values[i] = 5;
  EXPECT_NEAR(explained_variance(rollout), 0, 1e-9);
}

Rollout collected(const PpoSettings& settings, RunningNormaliser& observations) {
  ToyEnvironment<TugTask> environment(settings.environments, 5);
  WorkerPool pool(1);
  Network network({.inputs = 4, .hidden = {8}, .outputs = 6});
  Random random(1, "network");
  network.initialise(random);
  RunningNormaliser returns(1);
  std::vector<float> discounted(settings.environments);
  Rollout rollout(settings, environment);
  Collector collector(settings, environment, pool);
  collector.collect(network, 0, observations, returns, discounted, rollout);
  return rollout;
}

// Each environment has a stream of its own.
TEST(Rollout, DrawsTheSameForAnEnvironmentWhateverOthersThereAre) {
  PpoSettings settings;
  settings.rollout_steps = 30;
  settings.normalise_observations = false;
  RunningNormaliser observations(4);
  settings.environments = 40;
  const Rollout many = collected(settings, observations);
  settings.environments = 32;
  const Rollout few = collected(settings, observations);
  for (std::size_t step = 0; step < 30; ++step) {
    for (std::size_t i = 0; i < 32 * 6; ++i) {
      ASSERT_EQ(many.counts[step * 40 * 6 + i], few.counts[step * 32 * 6 + i]) << step;
    }
  }
}

TEST(Rollout, DrawsWithinTheMaskAndKeepsWhatItDrewFrom) {
  PpoSettings settings;
  settings.environments = 40;
  settings.rollout_steps = 30;
  settings.keep_options = 2;
  settings.clipped = false;
  RunningNormaliser observations(4);
  const Rollout rollout = collected(settings, observations);
  EXPECT_EQ(observations.count, 1200);
  for (std::size_t line = 0; line < rollout.rows() * 2; ++line) {
    int drawn = 0;
    int allowed = 0;
    double p = 0;
    for (std::size_t i = line * 3; i < line * 3 + 3; ++i) {
      if (!rollout.masks[i]) {
        EXPECT_EQ(rollout.counts[i], 0);
        EXPECT_EQ(rollout.probabilities[i], 0);
      }
      drawn += rollout.counts[i];
      allowed += rollout.masks[i];
      p += rollout.probabilities[i];
    }
    EXPECT_EQ(drawn, rollout.members[line]);
    EXPECT_EQ(allowed, 2);
    EXPECT_NEAR(p, rollout.members[line] ? 1 : 0, 1e-5);
  }
}

}  // namespace
}  // namespace smartmig
