#include "learn/recipe.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

std::string error_of(std::string_view text) {
  const auto recipe = parse_recipe(text, "r.toml");
  return recipe ? "accepted" : recipe.error().message;
}

TEST(Recipe, ReadsEverySection) {
  const auto recipe = parse_recipe(R"(
# A comment.
[policy]
kind = "placement"
board = "H100-80GB"
[workload]
rates = [12, 16.5]
fleet = "4xH100-80GB"
deadlines = "2:4@1g"
costs = "real"
preemption = "checkpoint"
[network]
hidden = [256, 256, 128]
activation = "relu"
[ppo]
steps = 1_000_000
learning_rate = [3e-4, 1e-5]
entropy = 0.01
objective = "penalised"
scale_rewards = false
[evolution]
strategy = "cma-es"
active = false
[held]
horizon = 20
)",
                                   "r.toml");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->policy.kind, PolicyKind::kPlacement);
  EXPECT_EQ(recipe->policy.board, "H100-80GB");
  EXPECT_EQ(recipe->workload.rates, (std::vector<double>{12, 16.5}));
  EXPECT_EQ(recipe->workload.deadlines.size, 1);
  EXPECT_EQ(recipe->workload.costs.name, "real");
  EXPECT_EQ(recipe->workload.preemption, Preemption::kCheckpoint);
  EXPECT_EQ(recipe->network.hidden, (std::vector<int>{256, 256, 128}));
  EXPECT_EQ(recipe->network.activation, Activation::kRelu);
  EXPECT_EQ(recipe->ppo->steps, 1'000'000);
  EXPECT_EQ(recipe->ppo->learning_rate.to, 1e-5);
  EXPECT_EQ(recipe->ppo->entropy.from, 0.01);
  EXPECT_EQ(recipe->ppo->entropy.to, 0.01);
  EXPECT_FALSE(recipe->ppo->clipped);
  EXPECT_FALSE(recipe->ppo->scale_rewards);
  EXPECT_FALSE(recipe->evolution->settings.active);
  ASSERT_EQ(recipe->held.size(), 1u);
  EXPECT_EQ(recipe->held[0].knob, Knob::kHorizon);
  EXPECT_EQ(recipe->held[0].value, 20);
}

TEST(Recipe, ReadsWhatAPolicyIsAndWhatItIsPaidFor) {
  const auto recipe = parse_recipe(R"(
[policy]
kind = "two-level"
placer = "edf"
every = 7
queue_length = false
layouts = "7*8"
choice = "most-likely"
keep = 5
turns = 4
[reward]
late = 2
[network]
stay = 1.5
[ppo]
advice = [1, 0.5]
)",
                                   "r.toml");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->policy.placer, "edf");
  EXPECT_EQ(recipe->policy.every, 7);
  EXPECT_FALSE(recipe->policy.queue_length);
  EXPECT_EQ(recipe->policy.layouts, "7*8");
  EXPECT_FALSE(recipe->policy.sample);
  EXPECT_EQ(recipe->policy.keep, 5);
  EXPECT_EQ(recipe->policy.turns, 4);
  EXPECT_EQ(recipe->reward->tardiness, 0);
  EXPECT_EQ(recipe->reward->late, 2);
  EXPECT_EQ(recipe->network.stay, 1.5);
  EXPECT_EQ(recipe->ppo->advice.from, 1);
  EXPECT_EQ(recipe->ppo->advice.to, 0.5);
  EXPECT_EQ(error_of("[policy]\nturns = 1\n[ppo]\n"),
            "r.toml:2: policy.turns: found 1, expected a whole number from 2 to 100");
}

TEST(Recipe, HasDefaultsForWhatIsLeftOut) {
  const auto recipe = parse_recipe("[policy]\n[ppo]\n", "r.toml");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->policy.kind, PolicyKind::kMeanField);
  EXPECT_EQ(recipe->ppo->minibatch, PpoSettings().minibatch);
  EXPECT_FALSE(recipe->evolution);
}

TEST(Recipe, NamesFileLineKeyAndTheNearestKnownOne) {
  EXPECT_EQ(error_of("[policy]\n[ppo]\nsteps = 10\nlearning_rat = 1\n"),
            "r.toml:4: ppo.learning_rat: unknown; did you mean 'learning_rate'?");
  EXPECT_EQ(error_of("[policy]\n[pop]\n"), "r.toml:2: 'pop': unknown section; did you mean 'ppo'?");
  EXPECT_EQ(error_of("[policy]\nkind = \"meanfield\"\n"),
            "r.toml:2: policy.kind: found 'meanfield'; did you mean 'mean-field'?");
  EXPECT_EQ(error_of("[policy]\nkind = 3\n"),
            "r.toml:2: policy.kind: found 3; known: mean-field, one-gpu, placement, two-level, "
            "smartmig");
  EXPECT_EQ(error_of("[policy]\n[evolution]\nstrategy = \"hill\"\n"),
            "r.toml:3: evolution.strategy: found 'hill'; known: cma-es");
}

TEST(Recipe, SaysWhatWasFoundAndExpected) {
  EXPECT_EQ(error_of("[policy]\n[ppo]\ngamma = 1.5\n"),
            "r.toml:3: ppo.gamma: found 1.5, expected a number from 0 to 1");
  EXPECT_EQ(error_of("[policy]\n[ppo]\nsteps = 1.5\n"),
            "r.toml:3: ppo.steps: found 1.5, expected a whole number from 1 to 1000000000000");
  EXPECT_EQ(error_of("[policy]\n[ppo]\nclip = [1, 2, 3]\n"),
            "r.toml:3: ppo.clip: found 2, expected numbers from 0 to 1");
  EXPECT_EQ(error_of("[policy]\n[ppo]\nclip = [0.1, 0.2, 0.3]\n"),
            "r.toml:3: ppo.clip: found 3 numbers, expected one or two");
  EXPECT_EQ(error_of("[policy]\n[ppo]\nscale_rewards = \"yes\"\n"),
            "r.toml:3: ppo.scale_rewards: found 'yes', expected true or false");
  EXPECT_EQ(error_of("[policy]\n[ppo]\ngamma = nan\n"),
            "r.toml:3: ppo.gamma: found nan, expected a number from 0 to 1");
  EXPECT_EQ(error_of("[policy]\n[network]\nhidden = [64, 0]\n[ppo]\n"),
            "r.toml:3: network.hidden: found 0, expected whole numbers from 1 to 4096");
  EXPECT_EQ(error_of("[policy]\n[evolution]\n[held]\nhorizon = \"long\"\n"),
            "r.toml:4: held.horizon: found 'long', expected a number from -100 to 100");
  EXPECT_EQ(error_of("policy = 3\n[ppo]\n"), "r.toml:1: 'policy': found 3, expected [policy]");
}

TEST(Recipe, PassesOnWhatOtherReadersSay) {
  EXPECT_EQ(error_of("[policy]\nboard = \"A100\"\n[ppo]\n").substr(0, 24),
            "r.toml:2: policy.board: ");
  EXPECT_EQ(error_of("[policy]\n[workload]\nfleet = \"8xA1\"\n[ppo]\n").substr(0, 26),
            "r.toml:3: workload.fleet: ");
  EXPECT_EQ(error_of("[policy]\n[workload]\npreemption = \"some\"\n[ppo]\n").substr(0, 31),
            "r.toml:3: workload.preemption: ");
}

TEST(Recipe, RefusesWhatIsNoTomlAndWhatTeachesNothing) {
  const std::string message = error_of("[policy]\nkind = \n");
  EXPECT_EQ(message.substr(0, 9), "r.toml:2:") << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(error_of("[policy]\n"),
            "r.toml: found neither [ppo] nor [evolution], expected a way to learn");
  EXPECT_EQ(error_of("[ppo]\n"), "r.toml: found no [policy]");
  EXPECT_EQ(error_of("[policy]\nkind = \"one-gpu\"\nkind = \"one-gpu\"\n[ppo]\n").substr(0, 9),
            "r.toml:3:");
}

TEST(Recipe, IsReadFromAFile) {
  EXPECT_FALSE(read_recipe("/nonexistent/recipe.toml"));
  EXPECT_EQ(to_string(PolicyKind::kTwoLevel), "two-level");
}

}  // namespace
}  // namespace smartmig
