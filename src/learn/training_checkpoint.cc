#include "learn/training_checkpoint.h"

#include <array>

namespace smartmig {
namespace {

// Counts are exact in doubles up to 2^53. Speed is not kept.
constexpr std::size_t kColumns = 14;
std::array<double, kColumns> to_numbers(const PpoProgress& r) {
  return {static_cast<double>(r.iteration),
          static_cast<double>(r.steps),
          r.mean_return,
          r.mean_et,
          static_cast<double>(r.episodes),
          r.policy_loss,
          r.value_loss,
          r.entropy,
          r.kl,
          r.clip_fraction,
          r.explained_variance,
          r.gradient_length,
          static_cast<double>(r.skipped),
          r.learning_rate};
}
PpoProgress from_numbers(std::span<const double> n) {
  PpoProgress r;
  r.iteration = static_cast<std::int64_t>(n[0]);
  r.steps = static_cast<std::int64_t>(n[1]);
  r.mean_return = n[2];
  r.mean_et = n[3];
  r.episodes = static_cast<std::int64_t>(n[4]);
  r.policy_loss = n[5];
  r.value_loss = n[6];
  r.entropy = n[7];
  r.kl = n[8];
  r.clip_fraction = n[9];
  r.explained_variance = n[10];
  r.gradient_length = n[11];
  r.skipped = static_cast<std::int64_t>(n[12]);
  r.learning_rate = n[13];
  return r;
}

// A level is a policy file of its own, all its names behind "layouts/" or "placer/".
void put_level(TensorFile& file, const std::string& name, const TrainedLevel& level) {
  TensorFile part;
  put_policy(part, level.policy);
  part.put("seen.count", std::vector<double>{level.observations.count});
  part.put("seen.mean", level.observations.mean);
  part.put("seen.squares", level.observations.squares);
  for (auto& [key, value] : part.metadata) file.metadata[name + "/" + key] = value;
  for (auto& [key, value] : part.tensors) file.tensors[name + "/" + key] = std::move(value);
}

Result<void> get_level(const TensorFile& file, const std::string& name, std::string_view file_name,
                       Levels& levels) {
  const std::string prefix = name + "/";
  TensorFile part;
  for (const auto& [key, value] : file.metadata)
    if (key.starts_with(prefix)) part.metadata[key.substr(prefix.size())] = value;
  for (const auto& [key, value] : file.tensors)
    if (key.starts_with(prefix)) part.tensors[key.substr(prefix.size())] = value;
  if (part.tensors.empty()) return {};  // Not learned yet.
  auto policy = get_policy(part, file_name);
  if (!policy) return pass_on(policy);
  const int width = policy->network.shape().inputs;
  const auto count = part.doubles("seen.count", 1, file_name);
  if (!count) return pass_on(count);
  const auto mean = part.doubles("seen.mean", width, file_name);
  if (!mean) return pass_on(mean);
  const auto squares = part.doubles("seen.squares", width, file_name);
  if (!squares) return pass_on(squares);
  RunningNormaliser seen(width);
  seen.count = count->front();
  seen.mean.assign(mean->begin(), mean->end());
  seen.squares.assign(squares->begin(), squares->end());
  levels.insert_or_assign(name, TrainedLevel{std::move(*policy), std::move(seen)});
  return {};
}

}  // namespace

void put_training(TensorFile& file, const TrainingState& state) {
  file.metadata["recipe"] = state.recipe;
  std::vector<double> curve;
  for (const PpoProgress& row : state.curve) {
    const auto numbers = to_numbers(row);
    curve.insert(curve.end(), numbers.begin(), numbers.end());
  }
  file.put("training.curve", curve);
  file.put("training.counts", std::vector<std::int64_t>{static_cast<std::int64_t>(state.stage),
                                                        std::ssize(state.curve)});
  for (const auto& [name, level] : state.levels) put_level(file, name, level);
}

Result<void> get_training(const TensorFile& file, std::string_view name, TrainingState& state) {
  const auto recipe = file.text("recipe", name);
  if (!recipe) return pass_on(recipe);
  if (*recipe != state.recipe) return fail("{}: is of another recipe, to the letter", name);
  const auto counts = file.integers("training.counts", 2, name);
  if (!counts) return pass_on(counts);
  if ((*counts)[0] < 0 || (*counts)[1] < 0 || (*counts)[1] > 1'000'000'000)
    return fail("{}: training.counts: out of range", name);
  const auto curve = file.doubles("training.curve", (*counts)[1] * std::int64_t{kColumns}, name);
  if (!curve) return pass_on(curve);
  state.stage = (*counts)[0];
  state.curve.clear();
  for (std::size_t at = 0; at < curve->size(); at += kColumns)
    state.curve.push_back(from_numbers(curve->subspan(at, kColumns)));
  for (const char* level : {kLayouts, kPlacer}) {
    if (auto got = get_level(file, level, name, state.levels); !got) return got;
  }
  return {};
}

}  // namespace smartmig
