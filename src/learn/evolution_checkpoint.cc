#include "base/text.h"
#include "learn/evolution.h"

namespace smartmig {
namespace {

constexpr std::string_view kEvolutionForm = "smartmig cma-es checkpoint 1";

Result<void> get(const TensorFile& file, std::string_view tensor, std::string_view name,
                 std::vector<double>& out) {
  const auto values = file.doubles(tensor, static_cast<std::int64_t>(out.size()), name);
  if (!values) return pass_on(values);
  out.assign(values->begin(), values->end());
  return {};
}

}  // namespace

TensorFile CmaEs::checkpoint() const {
  TensorFile file;
  file.metadata["form"] = kEvolutionForm;
  file.metadata["settings"] = describe(settings_);
  file.put("start", start_);
  file.put("scales", scales_);
  file.put("mean", state_.mean);
  file.put("covariance", state_.covariance);
  file.put("path", state_.path);
  file.put("sigma_path", state_.sigma_path);
  file.put("sigma", std::vector<double>{state_.sigma, state_.best_score});
  file.put("best", state_.best);
  file.put("generation", std::vector<std::int64_t>{state_.generation});
  return file;
}

Result<void> CmaEs::resume(const TensorFile& file, std::string_view name) {
  for (const auto& [key, expected] : {std::pair<std::string, std::string>("form", kEvolutionForm),
                                      {"settings", describe(settings_)}}) {
    const auto found = file.text(key, name);
    if (!found) return pass_on(found);
    if (*found != expected)
      return fail("{}: {} is '{}', expected '{}'", name, key, *found, expected);
  }
  CmaState state = state_;
  std::vector<double> start(n_);
  std::vector<double> scales(n_);
  std::vector<double> sigma(2);
  const std::pair<std::string_view, std::vector<double>*> parts[] = {
      {"start", &start},     {"scales", &scales},
      {"mean", &state.mean}, {"covariance", &state.covariance},
      {"path", &state.path}, {"sigma_path", &state.sigma_path},
      {"best", &state.best}, {"sigma", &sigma}};
  for (const auto& [tensor, values] : parts) {
    if (auto got = get(file, tensor, name, *values); !got) return got;
  }
  if (start != start_ || scales != scales_) {
    return fail("{}: begins elsewhere than the recipe's start and scales", name);
  }
  const auto generation = file.integers("generation", 1, name);
  if (!generation) return pass_on(generation);
  state.generation = generation->front();
  state.sigma = sigma[0];
  state.best_score = sigma[1];
  if (state.generation < 0 || !(state.sigma > 0)) {
    return fail("{}: generation {} with sigma {}, expected 0 or more with more than 0", name,
                state.generation, state.sigma);
  }
  state_ = std::move(state);
  return {};
}

}  // namespace smartmig
