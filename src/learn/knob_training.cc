#include "learn/knob_training.h"

#include <cmath>
#include <limits>

#include "base/text.h"
#include "policy/partitioners.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

// Free moves leave those after kHold unused.
constexpr std::size_t kFreeKnobs = static_cast<std::size_t>(Knob::kHold);

std::size_t knobs_in(int search) { return search == 0 ? kFreeKnobs : kKnobCount; }

Result<double> case_number(std::string_view key, std::string_view text, double low, double high) {
  const auto value = parse_number(text);
  if (value && *value >= low && *value <= high) return *value;
  return fail("case: {} is {}, expected a number from {} to {}", key, in_quotes(text), low, high);
}

Result<void> set_field(KnobCase& out, std::string_view key, std::string_view value) {
  const auto number = [&](double& into, double low, double high) -> Result<void> {
    const auto found = case_number(key, value, low, high);
    if (!found) return pass_on(found);
    into = *found;
    return {};
  };
  if (key == "rate") return number(out.workload.rate, 1e-3, 1e6);
  if (key == "training_share") return number(out.workload.training_share, 0, 1);
  if (key == "estimate_error") return number(out.estimate_error, 0, 10);
  if (key == "weight") return number(out.weight, 1e-6, 1e6);
  if (key == "deadlines") {
    const auto rule = parse_deadline_rule(value);
    if (!rule) return pass_on(rule);
    out.workload.deadlines = *rule;
    return {};
  }
  if (key == "fleet") {
    auto fleet = Fleet::parse(value);
    if (!fleet) return pass_on(fleet);
    out.fleet = std::move(*fleet);
    return {};
  }
  const std::vector<std::string> known = {"rate",   "training_share", "estimate_error",
                                          "weight", "deadlines",      "fleet"};
  return fail("case: unknown field {}{}", in_quotes(key), suggestion(key, known));
}

}  // namespace

Result<KnobCase> parse_knob_case(std::string_view text, const WorkloadRecipe& defaults) {
  auto fleet = Fleet::parse(defaults.fleet);
  if (!fleet) return pass_on(fleet);
  KnobCase made{std::move(*fleet), {}, 0, 1};
  made.workload.rate = defaults.rates.front();
  made.workload.deadlines = defaults.deadlines;
  made.workload.training_share = defaults.training_share;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return fail("case: found {}, expected FIELD=VALUE", in_quotes(word));
    if (const auto set = set_field(made, word.substr(0, equals), word.substr(equals + 1)); !set)
      return pass_on(set);
  }
  if (const auto checked = check_options(made.workload); !checked) return pass_on(checked);
  return made;
}

Result<KnobTraining> KnobTraining::make(const Recipe& recipe, std::string text) {
  if (!recipe.evolution || recipe.ppo)
    return fail("[evolution]: a smartmig policy is found by evolution alone");
  const EvolutionRecipe& evolution = *recipe.evolution;
  KnobTraining training;
  training.text_ = std::move(text);
  training.settings_ = evolution.settings;
  training.days_ = evolution.days_per_generation;
  training.seed_ = recipe.workload.seed;
  training.energy_weight_ = recipe.workload.energy_weight;
  training.knobs_ = first_knobs();
  for (const KnobInfo& info : knob_infos()) training.scales_.push_back(info.scale);
  for (const HeldKnob& held : recipe.held) {
    const auto knob = static_cast<std::size_t>(held.knob);
    training.knobs_.free_moves[knob] = training.knobs_.costly_moves[knob] = held.value;
    training.scales_[knob] = 0;
  }
  for (const std::string& one : evolution.cases) {
    auto made = parse_knob_case(one, recipe.workload);
    if (!made) return pass_on(made);
    training.cases_.push_back(std::move(*made));
  }
  if (training.cases_.empty())
    return fail("[evolution]: found no cases, expected cases = [\"rate=20\", ...]");
  training.running_.push_back(training.begin_search(0));
  return training;
}

CmaEs KnobTraining::begin_search(int search) const {
  const Knobs& start = search == 0 ? knobs_.free_moves : knobs_.costly_moves;
  const auto count = static_cast<std::ptrdiff_t>(knobs_in(search));
  return CmaEs(settings_, {start.begin(), start.begin() + count},
               {scales_.begin(), scales_.begin() + count});
}

Knobs KnobTraining::with(std::span<const double> values) const {
  Knobs knobs = search_ == 0 ? knobs_.free_moves : knobs_.costly_moves;
  std::copy(values.begin(), values.end(), knobs.begin());
  return knobs;
}

double KnobTraining::score(std::span<const double> values, std::int64_t generation) const {
  Policy policy;
  policy.name = "smartmig";
  double sum = 0;
  double weights = 0;
  for (const KnobCase& each : cases_) {
    EngineOptions options;
    options.estimate_sigma = each.estimate_error;
    if (search_ > 0) {
      options.costs = Costs::real();
      options.preemption = Preemption::kCheckpoint;
    }
    policy.partitioner = make_prices({with(values), with(values)}, each.fleet, energy_weight_);
    double et = 0;
    for (int i = 0; i < days_; ++i) {
      GeneratorOptions workload = each.workload;
      workload.seed = seed_;
      workload.day = kTrainingDays + static_cast<std::uint64_t>(generation) * days_ + i;
      options.seed = workload.day;
      const JobTable jobs = generate(workload);
      Engine engine(each.fleet, jobs, policy, options);
      if (!engine.run()) return std::numeric_limits<double>::infinity();
      et += measure(engine, energy_weight_).et;
    }
    sum += each.weight * std::log(et / days_);
    weights += each.weight;
  }
  return sum / weights;
}

void KnobTraining::step(WorkerPool& pool) {
  CmaEs& search = running_.back();
  EvolutionProgress progress =
      search.step([this](std::span<const double> values,
                         std::int64_t generation) { return score(values, generation); },
                  pool);
  progress.generation += search_ * settings_.generations;
  progress.evaluations +=
      search_ > 0 ? curve_[static_cast<std::size_t>(settings_.generations) - 1].evaluations : 0;
  curve_.push_back(progress);
  if (!search.done()) return;
  (search_ == 0 ? knobs_.free_moves : knobs_.costly_moves) = with(search.mean());
  running_.clear();
  if (++search_ < kSearches) running_.push_back(begin_search(search_));
}

TensorFile KnobTraining::policy() const {
  SM_CHECK(done());
  TensorFile file;
  put_knobs(file, knobs_);
  file.metadata["recipe"] = text_;
  return file;
}

TensorFile KnobTraining::checkpoint() const {
  TensorFile file = running_.empty() ? TensorFile() : running_.back().checkpoint();
  put_knobs(file, knobs_);
  file.metadata["recipe"] = text_;
  const std::int64_t search = search_;
  file.put("search", std::span(&search, 1));
  std::vector<double> curve;
  for (const EvolutionProgress& row : curve_) {
    const double evaluations = static_cast<double>(row.evaluations);
    curve.insert(curve.end(), {evaluations, row.best, row.median, row.sigma});
  }
  file.put("curve", std::span<const double>(curve));
  return file;
}

Result<void> KnobTraining::resume(const TensorFile& file, std::string_view name) {
  const auto text = file.text("recipe", name);
  if (!text) return pass_on(text);
  if (*text != text_)
    return fail("{}: was begun with another recipe, expected the same text", name);
  const auto search = file.integers("search", 1, name);
  if (!search) return pass_on(search);
  if (search->front() < 0 || search->front() > kSearches)
    return fail("{}: search is {}, expected 0 to {}", name, search->front(), kSearches);
  const auto knobs = get_knobs(file, name);
  if (!knobs) return pass_on(knobs);
  knobs_ = *knobs;
  search_ = static_cast<int>(search->front());
  running_.clear();
  std::int64_t generation = search_ * settings_.generations;
  if (!done()) {
    running_.push_back(begin_search(search_));
    if (const auto taken = running_.back().resume(file, name); !taken) return pass_on(taken);
    generation += running_.back().state().generation;
  }
  return read_curve(file, name, generation);
}

Result<void> KnobTraining::read_curve(const TensorFile& file, std::string_view name,
                                      std::int64_t rows) {
  const auto numbers = file.doubles("curve", 4 * rows, name);
  if (!numbers) return pass_on(numbers);
  curve_.clear();
  for (std::size_t i = 0; i < numbers->size(); i += 4) {
    const auto& row = *numbers;
    curve_.push_back({static_cast<std::int64_t>(i / 4) + 1, static_cast<std::int64_t>(row[i]),
                      row[i + 1], row[i + 2], row[i + 3]});
  }
  return {};
}

}  // namespace smartmig
