#include "learn/ppo.h"
#include "nn/network_file.h"

namespace smartmig {
namespace {

constexpr std::string_view kPpoForm = "smartmig ppo checkpoint 1";

void put_running(TensorFile& file, const std::string& name, const RunningNormaliser& running) {
  file.put(name + ".count", std::vector<double>{running.count});
  file.put(name + ".mean", running.mean);
  file.put(name + ".squares", running.squares);
}

Result<void> get_running(const TensorFile& file, const std::string& tensor, std::string_view name,
                         RunningNormaliser& out) {
  const auto width = static_cast<std::int64_t>(out.mean.size());
  const auto count = file.doubles(tensor + ".count", 1, name);
  if (!count) return pass_on(count);
  const auto mean = file.doubles(tensor + ".mean", width, name);
  if (!mean) return pass_on(mean);
  const auto squares = file.doubles(tensor + ".squares", width, name);
  if (!squares) return pass_on(squares);
  if (!(count->front() >= 0)) return fail("{}: {}.count is negative", name, tensor);
  out.count = count->front();
  out.mean.assign(mean->begin(), mean->end());
  out.squares.assign(squares->begin(), squares->end());
  return {};
}

Result<void> expect_text(const TensorFile& file, std::string_view key, std::string_view expected,
                         std::string_view name) {
  const auto found = file.text(key, name);
  if (!found) return pass_on(found);
  if (*found == expected) return {};
  return fail("{}: {} is '{}', expected '{}'", name, key, *found, expected);
}

Result<void> get_adam(const TensorFile& file, std::int64_t parameters, std::string_view name,
                      Adam& out) {
  const std::int64_t shape[] = {parameters};
  const auto mean = file.floats("adam.mean", shape, name);
  if (!mean) return pass_on(mean);
  const auto square = file.floats("adam.square", shape, name);
  if (!square) return pass_on(square);
  out.mean.assign(mean->begin(), mean->end());
  out.square.assign(square->begin(), square->end());
  return {};
}

}  // namespace

TensorFile Ppo::checkpoint() const {
  SM_CHECK(can_be_saved());
  TensorFile file;
  file.metadata["form"] = kPpoForm;
  file.metadata["settings"] = describe(settings_);
  put_network(file, state_.network);
  put_running(file, "observations", state_.observations);
  put_running(file, "returns", state_.returns);
  // Before the first step the moments are all zero.
  const std::vector<float> zeros(state_.network.parameters().size());
  file.put("adam.mean", state_.adam.mean.empty() ? zeros : state_.adam.mean);
  file.put("adam.square", state_.adam.square.empty() ? zeros : state_.adam.square);
  file.put("kl_weight", std::vector<double>{state_.kl_weight});
  file.put("counts", std::vector<std::int64_t>{state_.iteration, state_.steps, state_.adam.steps});
  return file;
}

Result<void> Ppo::resume(const TensorFile& file, std::string_view name) {
  if (auto same = expect_text(file, "form", kPpoForm, name); !same) return same;
  if (auto same = expect_text(file, "settings", describe(settings_), name); !same) return same;
  auto network = get_network(file, name);
  if (!network) return pass_on(network);
  if (network->shape() != state_.network.shape()) {
    return fail("{}: is for another network than the recipe's", name);
  }
  PpoState state(std::move(*network));
  state.discounted.resize(environment_.count());
  if (auto got = get_running(file, "observations", name, state.observations); !got) return got;
  if (auto got = get_running(file, "returns", name, state.returns); !got) return got;
  const auto parameters = static_cast<std::int64_t>(state.network.parameters().size());
  if (auto got = get_adam(file, parameters, name, state.adam); !got) return got;
  const auto kl_weight = file.doubles("kl_weight", 1, name);
  if (!kl_weight) return pass_on(kl_weight);
  const auto counts = file.integers("counts", 3, name);
  if (!counts) return pass_on(counts);
  state.kl_weight = kl_weight->front();
  state.iteration = (*counts)[0];
  state.steps = (*counts)[1];
  state.adam.steps = (*counts)[2];
  if (state.iteration < 0 || state.iteration > settings_.iterations() ||
      state.iteration % settings_.restart_every != 0 || state.adam.steps < 0) {
    return fail("{}: counts: iteration {} does not begin a block of {}", name, state.iteration,
                settings_.restart_every);
  }
  state_ = std::move(state);
  return {};
}

}  // namespace smartmig
