#include "learn/training_stages.h"

#include "foresight/named_policies.h"
#include "learn/environments.h"
#include "policy/learned.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

// SMART-MIG's fixed layouts for its fleet, with which the papers compare.
constexpr std::string_view kPublishedBaseline = "static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf";

Result<DayPoolOptions> days_of(const WorkloadRecipe& workload) {
  DayPoolOptions days;
  days.workload.deadlines = workload.deadlines;
  days.workload.training_share = workload.training_share;
  days.rates = workload.rates;
  days.days = static_cast<std::size_t>(workload.days);
  days.seed = workload.seed;
  if (days.rates.empty()) return fail("workload.rates: found none, expected a rate or more");
  for (const double rate : days.rates) {
    GeneratorOptions day = days.workload;
    day.rate = rate;
    if (const auto checked = check_options(day); !checked) return pass_on(checked);
  }
  return days;
}

// What a recipe says of every kind of environment.
void apply(const Recipe& recipe, EpisodeSettings& episodes) {
  episodes.engine.costs = recipe.workload.costs;
  episodes.engine.preemption = recipe.workload.preemption;
  episodes.energy_weight = recipe.workload.energy_weight;
  if (recipe.reward) episodes.reward = *recipe.reward;
  episodes.seed = recipe.ppo->seed;
  episodes.environments = static_cast<std::size_t>(recipe.ppo->environments);
}

// Mean over the pool's days.
double et_of(const Policy& policy, const EpisodeSettings& episodes) {
  double sum = 0;
  for (std::size_t day = 0; day < episodes.days->size(); ++day) {
    Engine engine(*episodes.fleet, episodes.days->day(day), policy, episodes.engine);
    SM_CHECK(engine.run().has_value());
    sum += measure(engine, episodes.energy_weight).et;
  }
  return sum / static_cast<double>(episodes.days->size());
}

template <class Settings>
Result<Stage> finish(const Recipe& recipe, const Settings& settings, std::string baseline) {
  Stage stage;
  stage.baseline = std::move(baseline);
  const auto policy = make_named_policy(stage.baseline, *settings.episodes.fleet);
  if (!policy) return pass_on(policy);
  stage.baseline_et = et_of(*policy, settings.episodes);
  stage.environment = make_environment(settings);
  stage.learned = learned_settings(settings);
  stage.learned.sample = recipe.policy.sample;
  stage.learned.keep = recipe.policy.keep;
  return stage;
}

std::string baseline_of(const Recipe& recipe, const Fleet& fleet) {
  if (fleet.name() == "8xA100-40GB") return std::string(kPublishedBaseline);
  return fmt::format("none/{}", recipe.policy.placer);
}

std::shared_ptr<const LearnedPolicy> frozen(const TrainedLevel& level) {
  return std::make_shared<const LearnedPolicy>(level.policy);
}

Result<Stage> mean_field_stage(const Recipe& recipe, const Levels& levels) {
  const auto days = days_of(recipe.workload);
  if (!days) return pass_on(days);
  auto settings = mean_field(recipe.workload.fleet, recipe.policy.placer, *days);
  if (!settings) return pass_on(settings);
  apply(recipe, settings->episodes);
  settings->queue_length = recipe.policy.queue_length;
  settings->every = recipe.policy.every.value_or(5);
  if (const auto placer = levels.find(kPlacer); placer != levels.end()) {
    settings->episodes.policy.placer = make_learned_placer(frozen(placer->second), 1);
  }
  return finish(recipe, *settings, baseline_of(recipe, *settings->episodes.fleet));
}

Result<Stage> one_gpu_stage(const Recipe& recipe) {
  const auto days = days_of(recipe.workload);
  if (!days) return pass_on(days);
  auto settings = one_gpu(recipe.policy.board, recipe.policy.placer, *days);
  if (!settings) return pass_on(settings);
  apply(recipe, settings->episodes);
  settings->queue_length = recipe.policy.queue_length;
  settings->every = recipe.policy.every.value_or(1);
  return finish(recipe, *settings, baseline_of(recipe, *settings->episodes.fleet));
}

Result<Stage> placement_stage(const Recipe& recipe) {
  if (recipe.workload.preemption != Preemption::kOff) {
    return fail("workload.preemption: found '{}', expected none: placement is learned without",
                to_string(recipe.workload.preemption));
  }
  const auto days = days_of(recipe.workload);
  if (!days) return pass_on(days);
  auto fleet = Fleet::parse(recipe.workload.fleet);
  if (!fleet) return pass_on(fleet);
  PlacementTask::Settings settings;
  settings.masked = recipe.policy.mask;
  settings.episodes.fleet = std::make_shared<const Fleet>(std::move(*fleet));
  const std::string baseline = fmt::format("static:{}/slowest-on-time", recipe.policy.layouts);
  auto policy = make_named_policy(baseline, *settings.episodes.fleet);
  if (!policy) return pass_on(policy);
  settings.episodes.policy = std::move(*policy);
  settings.episodes.days = std::make_shared<const DayPool>(*days);
  settings.episodes.reward = {.tardiness = 0, .energy = 0, .late = 1};
  apply(recipe, settings.episodes);
  return finish(recipe, settings, baseline);
}

// The lower of two levels.
Result<Stage> size_stage(const Recipe& recipe, const Levels& levels) {
  const auto days = days_of(recipe.workload);
  if (!days) return pass_on(days);
  auto settings = size_placement(recipe.workload.fleet, "count", *days);
  if (!settings) return pass_on(settings);
  apply(recipe, settings->episodes);
  settings->episodes.policy.partitioner = make_learned_layouts(frozen(levels.at(kLayouts)), 1);
  auto stage = finish(recipe, *settings, baseline_of(recipe, *settings->episodes.fleet));
  // Thirty choices at an event and more, of which none should be left to chance.
  if (stage) stage->learned.sample = false;
  return stage;
}

}  // namespace

std::vector<std::string> stage_names(const Recipe& recipe) {
  switch (recipe.policy.kind) {
    case PolicyKind::kMeanField:
    case PolicyKind::kOneGpu:
      return {kLayouts};
    case PolicyKind::kPlacement:
      return {kPlacer};
    case PolicyKind::kTwoLevel: {
      std::vector<std::string> names;
      for (int turn = 0; turn < recipe.policy.turns; ++turn)
        names.emplace_back(turn % 2 == 0 ? kLayouts : kPlacer);
      return names;
    }
    case PolicyKind::kSmartmig:
      return {};
  }
  return {};
}

Result<Stage> make_stage(const Recipe& recipe, const std::string& name, const Levels& levels) {
  switch (recipe.policy.kind) {
    case PolicyKind::kMeanField:
      return mean_field_stage(recipe, {});
    case PolicyKind::kOneGpu:
      return one_gpu_stage(recipe);
    case PolicyKind::kPlacement:
      return placement_stage(recipe);
    case PolicyKind::kTwoLevel:
      return name == kLayouts ? mean_field_stage(recipe, levels) : size_stage(recipe, levels);
    case PolicyKind::kSmartmig:
      break;
  }
  return fail("policy.kind: {} is not learned by [ppo]", to_string(recipe.policy.kind));
}

}  // namespace smartmig
