#include "learn/ppo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "learn/toy_environment.h"

namespace smartmig {
namespace {

PpoSettings bandit_settings() {
  PpoSettings s;
  s.steps = 8 * 1024;
  s.environments = 16;
  s.rollout_steps = 32;
  s.minibatch = 128;
  s.epochs = 4;
  s.learning_rate = {3e-3, 1e-3};
  return s;
}

PpoSettings tug_settings() {
  PpoSettings s;
  s.steps = 200'000;
  s.environments = 40;  // More than one chunk.
  s.rollout_steps = 48;
  s.minibatch = 600;
  s.epochs = 6;
  s.learning_rate = {2e-3, 2e-4};
  s.entropy = {0.005, 0};
  s.restart_every = 3;
  return s;
}

struct Trained {
  std::vector<PpoProgress> curve;
  std::vector<float> parameters;
  TensorFile policy;
};

template <class Task>
Trained train(const PpoSettings& settings, int threads) {
  ToyEnvironment<Task> environment(settings.environments, 3);
  WorkerPool pool(threads);
  Ppo ppo(settings, {.hidden = {16, 16}}, environment, pool);
  Trained out;
  while (!ppo.done()) out.curve.push_back(ppo.iterate());
  out.parameters.assign(ppo.state().network.parameters().begin(),
                        ppo.state().network.parameters().end());
  ppo.put_policy(out.policy);
  return out;
}

TEST(Ppo, LearnsABanditWithMasks) {
  const Trained trained = train<BanditTask>(bandit_settings(), 1);
  EXPECT_LT(trained.curve.front().mean_return, 0.5);
  EXPECT_GT(trained.curve.back().mean_return, 0.95);
  EXPECT_LT(trained.curve.back().entropy, trained.curve.front().entropy);
}

// Who goes straight from distance d to the goal pays d (d - 1) / 2: 5.19 on average over two random
// places of nine. One who pulls at random pays over 30.
TEST(Ppo, LearnsToPullTogether) {
  const Trained trained = train<TugTask>(tug_settings(), 1);
  EXPECT_LT(trained.curve.front().mean_return, -20);
  EXPECT_GT(trained.curve.back().mean_return, -6.5);
  EXPECT_GT(trained.curve.back().explained_variance, 0.5);
}

TEST(Ppo, LearnsWithThePenaltyToo) {
  PpoSettings settings = tug_settings();
  settings.clipped = false;
  settings.kl_aim = 0.02;
  const Trained trained = train<TugTask>(settings, 1);
  EXPECT_GT(trained.curve.back().mean_return, -6.5);
  // The weight follows the aim.
  EXPECT_LT(trained.curve.back().kl, 0.1);
}

TEST(Ppo, MovesTheWeightOfThePenaltyTowardsItsAim) {
  PpoSettings settings = bandit_settings();
  settings.clipped = false;
  settings.kl_weight = 1;
  for (const auto& [aim, expected] : {std::pair(1e-9, 8.0), std::pair(1e3, 0.125)}) {
    settings.kl_aim = aim;
    ToyEnvironment<BanditTask> environment(settings.environments, 3);
    WorkerPool pool(1);
    Ppo ppo(settings, {.hidden = {8}}, environment, pool);
    for (int i = 0; i < 3; ++i) ppo.iterate();
    EXPECT_EQ(ppo.state().kl_weight, expected);
  }
}

TEST(Ppo, LearnsWithTheTwoMostLikelyOptionsOnly) {
  PpoSettings settings = tug_settings();
  settings.keep_options = 2;
  settings.value_clip = 5;
  const Trained trained = train<TugTask>(settings, 1);
  EXPECT_GT(trained.curve.back().mean_return, -8);
}

TEST(Ppo, GivesTheSameBytesOnAnyNumberOfThreads) {
  PpoSettings settings = tug_settings();
  settings.steps = 10'000;
  for (bool clipped : {true, false}) {
    settings.clipped = clipped;
    const Trained one = train<TugTask>(settings, 1);
    const Trained two = train<TugTask>(settings, 2);
    const Trained three = train<TugTask>(settings, 3);
    EXPECT_TRUE(*encode_safetensors(one.policy, "a") == *encode_safetensors(two.policy, "a"));
    EXPECT_TRUE(one.parameters == three.parameters);
    ASSERT_EQ(one.curve.size(), two.curve.size());
    for (std::size_t i = 0; i < one.curve.size(); ++i) {
      EXPECT_EQ(one.curve[i].kl, two.curve[i].kl);
      EXPECT_EQ(one.curve[i].mean_return, two.curve[i].mean_return);
    }
  }
}

TEST(Ppo, EndsInTheSameBytesWhenItIsStoppedAndTakenUp) {
  PpoSettings settings = tug_settings();
  settings.steps = 20'000;
  settings.rollout_steps = 50;  // Not a whole number of episodes: blocks end in the midst of some.
  settings.clipped = false;     // So that the penalty's weight has to be kept, too.
  const Trained whole = train<TugTask>(settings, 1);
  WorkerPool pool(1);
  std::string bytes;
  {
    ToyEnvironment<TugTask> environment(settings.environments, 3);
    Ppo ppo(settings, {.hidden = {16, 16}}, environment, pool);
    for (int i = 0; i < 6; ++i) ppo.iterate();
    ASSERT_TRUE(ppo.can_be_saved());
    bytes = *encode_safetensors(ppo.checkpoint(), "c");
  }
  ToyEnvironment<TugTask> environment(settings.environments, 3);
  Ppo ppo(settings, {.hidden = {16, 16}}, environment, pool);
  const auto file = decode_safetensors(bytes, "c");
  ASSERT_TRUE(file) << file.error().message;
  const auto resumed = ppo.resume(*file, "c");
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_TRUE(*encode_safetensors(ppo.checkpoint(), "c") == bytes);
  std::size_t at = 6;
  while (!ppo.done()) {
    const PpoProgress row = ppo.iterate();
    EXPECT_EQ(row.mean_return, whole.curve[at].mean_return) << at;
    EXPECT_EQ(row.kl, whole.curve[at].kl) << at;
    ++at;
  }
  EXPECT_EQ(at, whole.curve.size());
  TensorFile policy;
  ppo.put_policy(policy);
  EXPECT_TRUE(*encode_safetensors(policy, "p") == *encode_safetensors(whole.policy, "p"));
}

TEST(Ppo, RefusesACheckpointOfOtherSettings) {
  const PpoSettings settings = bandit_settings();
  ToyEnvironment<BanditTask> environment(settings.environments, 3);
  WorkerPool pool(1);
  Ppo ppo(settings, {.hidden = {8}}, environment, pool);
  const TensorFile file = ppo.checkpoint();
  PpoSettings other = settings;
  other.gamma = 0.9;
  Ppo changed(other, {.hidden = {8}}, environment, pool);
  const auto refused = changed.resume(file, "c.safetensors");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.substr(0, 26), "c.safetensors: settings is");
  Ppo wider(settings, {.hidden = {9}}, environment, pool);
  EXPECT_EQ(wider.resume(file, "c").error().message, "c: is for another network than the recipe's");
  TensorFile odd = file;
  odd.put("counts", std::vector<std::int64_t>{3, 0, 0});
  EXPECT_EQ(ppo.resume(odd, "c").error().message,
            "c: counts: iteration 3 does not begin a block of 8");
}

// A bandit that now and then pays what no float holds.
struct OverflowTask : BanditTask {
  static float step(Situation& s, const std::uint16_t* counts, Random& random, bool& ended) {
    const float reward = BanditTask::step(s, counts, random, ended);
    return random.below(50) ? reward : std::numeric_limits<float>::infinity();
  }
};

TEST(Ppo, KeepsItsWeightsFiniteWhereRewardsAreNot) {
  PpoSettings settings = bandit_settings();
  settings.steps = 2048;
  settings.reward_limit = 0;
  settings.normalise_advantages = false;
  settings.scale_rewards = false;
  const Trained trained = train<OverflowTask>(settings, 1);
  std::int64_t skipped = 0;
  for (const PpoProgress& row : trained.curve) skipped += row.skipped;
  EXPECT_GT(skipped, 0);
  for (float x : trained.parameters) ASSERT_TRUE(std::isfinite(x));
}

TEST(Ppo, StopsItsEpochsWhereTheDivergenceIsOverTheLimit) {
  PpoSettings settings = bandit_settings();
  settings.steps = 4096;
  settings.kl_stop = 1e-4;
  settings.epochs = 50;
  double last = 0;
  for (const PpoProgress& row : train<BanditTask>(settings, 1).curve) last = row.kl;
  EXPECT_LT(last, 0.05);
}

}  // namespace
}  // namespace smartmig
