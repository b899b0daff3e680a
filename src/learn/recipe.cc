#include "learn/recipe.h"

#include "base/file.h"
#include "fleet/fleet.h"
#include "learn/toml_fields.h"
#include "mig/board.h"

namespace smartmig {
namespace {

constexpr std::pair<std::string_view, PolicyKind> kKinds[] = {
    {"mean-field", PolicyKind::kMeanField}, {"one-gpu", PolicyKind::kOneGpu},
    {"placement", PolicyKind::kPlacement},  {"two-level", PolicyKind::kTwoLevel},
    {"smartmig", PolicyKind::kSmartmig},
};
constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"tanh", Activation::kTanh},
    {"relu", Activation::kRelu},
};
constexpr std::pair<std::string_view, bool> kObjectives[] = {{"clipped", true},
                                                             {"penalised", false}};
constexpr std::pair<std::string_view, bool> kChoices[] = {{"sample", true}, {"most-likely", false}};
// There is one; a recipe may say so.
constexpr std::pair<std::string_view, bool> kStrategies[] = {{"cma-es", true}};

// One number, or two: where it begins and where it ends.
void read_schedule(TomlFields& fields, const std::string& key, Schedule& out, double high) {
  std::vector<double> ends;
  double one = out.from;
  if (fields.is_list(key)) {
    fields.numbers(key, ends, 0, high);
    if (ends.size() == 2) out = {ends[0], ends[1]};
    if (!ends.empty() && ends.size() != 2) {
      fields.report(key, fmt::format("found {} numbers, expected one or two", ends.size()));
    }
  } else if (fields.has(key)) {
    fields.number(key, one, 0, high);
    out = {one, one};
  }
}

// A text that another room parses; its error names the field.
template <class T, class Parse>
void read_parsed(TomlFields& fields, const std::string& key, T& out, Parse&& parse) {
  std::string text;
  fields.text(key, text);
  if (text.empty()) return;
  auto parsed = parse(text);
  if (parsed) {
    out = std::move(*parsed);
  } else {
    fields.report(key, parsed.error().message);
  }
}

void read_policy(TomlFields& fields, PolicyRecipe& out) {
  fields.choice<PolicyKind>("kind", out.kind, kKinds);
  read_parsed(fields, "board", out.board, [](const std::string& text) -> Result<std::string> {
    const auto board = BoardTable::shipped().find(text);
    if (!board) return pass_on(board);
    return text;
  });
  fields.text("placer", out.placer);
  if (fields.has("every")) {
    out.every.emplace();
    fields.integer("every", *out.every, 1, 1'000'000);
  }
  fields.boolean("queue_length", out.queue_length);
  fields.text("layouts", out.layouts);
  fields.boolean("mask", out.mask);
  fields.choice<bool>("choice", out.sample, kChoices);
  fields.integer("keep", out.keep, 0, 64);
  fields.integer("turns", out.turns, 2, 100);
}

void read_reward(TomlFields& fields, RewardWeights& out) {
  fields.number("tardiness", out.tardiness, 0, 1e9);
  fields.number("energy", out.energy, 0, 1e9);
  fields.number("late", out.late, 0, 1e9);
}

void read_workload(TomlFields& fields, WorkloadRecipe& out) {
  read_parsed(fields, "fleet", out.fleet, [](const std::string& text) -> Result<std::string> {
    const auto fleet = Fleet::parse(text);
    if (!fleet) return pass_on(fleet);
    return text;
  });
  fields.numbers("rates", out.rates, 1e-3, 1e6);
  fields.integer("days", out.days, 1, 100'000);
  fields.integer("seed", out.seed);
  read_parsed(fields, "deadlines", out.deadlines, parse_deadline_rule);
  fields.number("training_share", out.training_share, 0, 1);
  read_parsed(fields, "costs", out.costs, Costs::parse);
  read_parsed(fields, "preemption", out.preemption, parse_preemption);
  fields.number("energy_weight", out.energy_weight, 0, 1e9);
}

void read_network(TomlFields& fields, NetworkSettings& out) {
  fields.integers("hidden", out.hidden, 1, 4096);
  if (out.hidden.size() > 16) fields.report("hidden", "found over 16 layers");
  fields.choice<Activation>("activation", out.activation, kActivations);
  fields.number("stay", out.stay, 0, 100);
}

void read_ppo(TomlFields& fields, PpoSettings& out) {
  fields.integer("seed", out.seed);
  fields.integer("steps", out.steps, 1, 1'000'000'000'000);
  fields.integer("environments", out.environments, 1, 65'536);
  fields.integer("rollout_steps", out.rollout_steps, 1, 1'000'000);
  fields.integer("minibatch", out.minibatch, 1, 10'000'000);
  fields.integer("epochs", out.epochs, 1, 1000);
  fields.integer("restart_every", out.restart_every, 1, 1'000'000);
  fields.number("gamma", out.gamma, 0, 1);
  fields.number("lambda", out.lambda, 0, 1);
  read_schedule(fields, "learning_rate", out.learning_rate, 1);
  read_schedule(fields, "entropy", out.entropy, 10);
  read_schedule(fields, "advice", out.advice, 1e3);
  fields.choice<bool>("objective", out.clipped, kObjectives);
  read_schedule(fields, "clip", out.clip, 1);
  fields.number("kl_weight", out.kl_weight, 0, 1e6);
  fields.number("kl_aim", out.kl_aim, 1e-9, 1e3);
  fields.number("kl_stop", out.kl_stop, 0, 1e3);
  fields.number("value_weight", out.value_weight, 0, 1e3);
  fields.number("value_clip", out.value_clip, 0, 1e6);
  fields.number("gradient_limit", out.gradient_limit, 0, 1e6);
  fields.boolean("normalise_observations", out.normalise_observations);
  fields.boolean("normalise_advantages", out.normalise_advantages);
  fields.boolean("scale_rewards", out.scale_rewards);
  fields.number("reward_limit", out.reward_limit, 0, 1e6);
  fields.integer("keep_options", out.keep_options, 0, 1000);
  // Rows are counted in 32 bits.
  if (out.rollout_rows() > 100'000'000) {
    fields.report("rollout_steps", "found over 1e8 steps in a rollout of all environments");
  }
}

void read_evolution(TomlFields& fields, EvolutionRecipe& out) {
  bool known = true;
  fields.choice<bool>("strategy", known, kStrategies);
  fields.integer("seed", out.settings.seed);
  fields.integer("generations", out.settings.generations, 1, 1'000'000'000);
  fields.integer("population", out.settings.population, 0, 1'000'000);
  fields.number("sigma", out.settings.sigma, 1e-9, 1e9);
  fields.boolean("active", out.settings.active);
  fields.integer("days_per_generation", out.days_per_generation, 1, 100'000);
  fields.texts("cases", out.cases);
}

void read_held(TomlFields& fields, std::vector<HeldKnob>& out) {
  for (std::size_t i = 0; i < kKnobCount; ++i) {
    const std::string name(knob_infos()[i].name);
    if (!fields.has(name)) continue;
    out.push_back({static_cast<Knob>(i), 0});
    fields.number(name, out.back().value, -100, 100);
  }
}

}  // namespace

std::string_view to_string(PolicyKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "";
}

Result<Recipe> parse_recipe(std::string_view text, const std::string& name) {
  TomlDocument document(name);
  Recipe recipe;
  if (document.parse(text)) {
    const bool named =
        document.section("policy", [&](TomlFields& f) { read_policy(f, recipe.policy); });
    document.section("workload", [&](TomlFields& f) { read_workload(f, recipe.workload); });
    document.section("reward", [&](TomlFields& f) {
      read_reward(f, recipe.reward.emplace(RewardWeights{0, 0, 0}));
    });
    document.section("network", [&](TomlFields& f) { read_network(f, recipe.network); });
    document.section("ppo", [&](TomlFields& f) { read_ppo(f, recipe.ppo.emplace()); });
    document.section("evolution",
                     [&](TomlFields& f) { read_evolution(f, recipe.evolution.emplace()); });
    document.section("held", [&](TomlFields& f) { read_held(f, recipe.held); });
    document.finish();
    if (!document.error() && !named) return fail("{}: found no [policy]", name);
    if (!document.error() && !recipe.ppo && !recipe.evolution) {
      return fail("{}: found neither [ppo] nor [evolution], expected a way to learn", name);
    }
  }
  if (document.error()) return tl::unexpected<Error>(*document.error());
  return recipe;
}

Result<Recipe> read_recipe(const std::string& path) {
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  return parse_recipe(*text, path);
}

}  // namespace smartmig
