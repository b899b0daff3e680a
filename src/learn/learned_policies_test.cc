// A learned policy in a simulation does what its network does in the environment it is trained in:
// the same observations, the same choices, the same ET to the last digits.
#include <gtest/gtest.h>

#include "learn/whole_days.h"
#include "nn/masked_categorical.h"
#include "policy/learned.h"
#include "policy/registry.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

std::shared_ptr<const LearnedPolicy> random_policy(LearnedSettings settings, std::uint64_t seed) {
  settings.board = "A100-40GB";
  settings.sample = false;
  const Board& board = **BoardTable::shipped().find(settings.board);
  const LearnedShape shape = learned_shape(settings, board);
  Network network({.inputs = shape.inputs,
                   .hidden = {32, 16},
                   .outputs = shape.heads * shape.options,
                   .value_head = true,
                   .activation = Activation::kTanh});
  Random random(seed, "learned policies test");
  network.initialise(random);
  // As it is made all options are nearly alike.
  for (float& weight : network.parameters()) weight += 0.4f * static_cast<float>(random.normal());
  Normaliser normaliser;
  normaliser.mean.assign(static_cast<std::size_t>(shape.inputs), 0.2f);
  normaliser.scale.assign(static_cast<std::size_t>(shape.inputs), 1.5f);
  return std::make_shared<const LearnedPolicy>(
      LearnedPolicy{settings, std::move(network), std::move(normaliser)});
}

// One episode, every head's members at its most likely option.
double et_in(VectorEnvironment& environment, const LearnedPolicy& policy) {
  const ActionShape shape = environment.actions();
  const auto options = static_cast<std::size_t>(shape.options);
  std::vector<float> inputs(static_cast<std::size_t>(environment.observation_size()));
  std::vector<float> logits(static_cast<std::size_t>(shape.size()));
  std::vector<std::uint16_t> chosen(logits.size());
  Workspace workspace;
  WorkerPool pool(1);
  do {
    policy.normaliser.apply(environment.observations(), inputs);
    policy.network.forward(inputs, 1, workspace, logits, {});
    std::fill(chosen.begin(), chosen.end(), 0);
    for (std::size_t head = 0; head < environment.members().size(); ++head) {
      const int option = most_likely(std::span(logits).subspan(head * options, options),
                                     environment.masks().subspan(head * options, options));
      chosen[head * options + static_cast<std::size_t>(option)] = environment.members()[head];
    }
    environment.step(chosen, pool);
  } while (!environment.ended()[0]);
  return environment.take_finished().mean_et;
}

struct Outcome {
  double et = 0;
  TurnCounts turns;
  long repartitions = 0;
};
Outcome simulated(const EpisodeSettings& settings, Policy policy) {
  Engine engine(*settings.fleet, settings.days->day(0), policy, settings.engine);
  EXPECT_TRUE(engine.run().has_value());
  return {measure(engine, settings.energy_weight).et, engine.policy().partitioner->turn_counts(),
          engine.repartitions()};
}

TEST(LearnedPolicies, OfLayoutsCostWhatTheirNetworkCostsInTraining) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (const char* costs : {"free", "paper", "real"}) {
      auto settings = plain(mean_field("8xA100-40GB", "cedf", one_day(8)).value());
      settings.episodes.engine.costs = Costs::parse(costs).value();
      const auto learned = random_policy({.kind = LearnedKind::kMeanField}, seed);
      Policy policy = settings.episodes.policy;
      policy.partitioner = make_learned_layouts(learned, 1);
      const Outcome run = simulated(settings.episodes, policy);
      EXPECT_NEAR(et_in(*make_environment(settings), *learned), run.et, 1e-10 * run.et);
      EXPECT_EQ(run.turns.gpus_changed, run.repartitions);
      EXPECT_GT(run.repartitions, 0) << "seed " << seed << " changes nothing";
      EXPECT_GE(run.turns.decisions, run.turns.decisions_with_change);
      EXPECT_EQ(run.turns.gpus_asked, 8 * run.turns.decisions);
    }
  }
}

TEST(LearnedPolicies, OfOneGpuCostWhatTheirNetworkCostsInTraining) {
  const auto settings = plain(one_gpu("A100-40GB", "cedf", one_day(2.5)).value());
  const auto learned = random_policy(learned_settings(settings), 1);
  Policy policy = settings.episodes.policy;
  policy.partitioner = make_learned_layouts(learned, 1);
  const Outcome run = simulated(settings.episodes, policy);
  EXPECT_NEAR(et_in(*make_environment(settings), *learned), run.et, 1e-10 * run.et);
  EXPECT_GT(run.turns.decisions_with_change, 0);
}

TEST(LearnedPolicies, OfPlacementCostWhatTheirNetworkCostsInTraining) {
  const auto settings = plain(course_placement(one_day(12)));
  const auto learned = random_policy(learned_settings(settings), 2);
  EXPECT_EQ(learned->settings.slices, "7,7,4,3,4,3,4,2,1,4,2,1,2,2,2,1,2,2,2,1");
  Policy policy = settings.episodes.policy;
  policy.placer = make_learned_placer(learned, 1);
  const Outcome run = simulated(settings.episodes, policy);
  EXPECT_NEAR(et_in(*make_environment(settings), *learned), run.et, 1e-10 * run.et);
}

TEST(LearnedPolicies, OfSizesCostWhatTheirNetworkCostsInTraining) {
  for (const Preemption preemption :
       {Preemption::kFree, Preemption::kOff, Preemption::kCheckpoint}) {
    auto settings = plain(size_placement("4xA100-40GB", "count", one_day(4)).value());
    settings.episodes.engine.preemption = preemption;
    const auto learned = random_policy({.kind = LearnedKind::kSize}, 3);
    Policy policy = settings.episodes.policy;
    policy.placer = make_learned_placer(learned, 1);
    const Outcome run = simulated(settings.episodes, policy);
    EXPECT_NEAR(et_in(*make_environment(settings), *learned), run.et, 1e-10 * run.et);
  }
}

TEST(LearnedPolicies, CanBeFrozenBelowOrAboveOneThatLearns) {
  const auto sizes = random_policy({.kind = LearnedKind::kSize}, 3);
  const auto layouts = random_policy({.kind = LearnedKind::kMeanField}, 4);
  auto above = plain(mean_field("4xA100-40GB", "cedf", one_day(4)).value());
  above.episodes.policy.placer = make_learned_placer(sizes, 1);
  auto below = plain(size_placement("4xA100-40GB", "none", one_day(4)).value());
  below.episodes.policy.partitioner = make_learned_layouts(layouts, 1);
  const double et = et_in(*make_environment(above), *layouts);
  EXPECT_NEAR(et_in(*make_environment(below), *sizes), et, 1e-10 * et);
}

TEST(LearnedPolicies, DrawTheSameFromTheSameSeed) {
  const auto settings = plain(mean_field("8xA100-40GB", "cedf", one_day(4)).value());
  LearnedPolicy drawing = *random_policy({.kind = LearnedKind::kMeanField}, 5);
  drawing.settings.sample = true;
  const auto learned = std::make_shared<const LearnedPolicy>(std::move(drawing));
  const auto et = [&](std::uint64_t seed) {
    Policy policy = settings.episodes.policy;
    policy.partitioner = make_learned_layouts(learned, seed);
    return simulated(settings.episodes, policy).et;
  };
  EXPECT_EQ(et(1), et(1));
  EXPECT_NE(et(1), et(2));
}

}  // namespace
}  // namespace smartmig
