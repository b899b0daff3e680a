#include "nn/network_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

// Far above anything trained here; keeps a damaged file from asking for all memory.
constexpr std::int64_t kWidest = 1 << 16;
constexpr std::size_t kMostLayers = 16;

Result<int> width(const TensorFile& file, std::string_view key, std::string_view name) {
  const auto text = file.text(key, name);
  if (!text) return pass_on(text);
  const auto number = parse_integer(*text);
  if (!number || *number < 1 || *number > kWidest) {
    return fail("{}: metadata '{}' is {}, expected 1 to {}", name, key, in_quotes(*text), kWidest);
  }
  return static_cast<int>(*number);
}

Result<std::vector<int>> hidden_widths(const TensorFile& file, std::string_view name) {
  const auto text = file.text("hidden", name);
  if (!text) return pass_on(text);
  std::vector<int> hidden;
  if (text->empty()) return hidden;
  for (std::string_view piece : split(*text, ',')) {
    const auto number = parse_integer(piece);
    if (!number || *number < 1 || *number > kWidest || hidden.size() == kMostLayers) {
      return fail("{}: metadata 'hidden' is {}, expected widths such as 64,64", name,
                  in_quotes(*text));
    }
    hidden.push_back(static_cast<int>(*number));
  }
  return hidden;
}

}  // namespace

void put_network(TensorFile& file, const Network& network) {
  const NetworkShape& shape = network.shape();
  file.metadata["inputs"] = std::to_string(shape.inputs);
  file.metadata["hidden"] = fmt::format("{}", fmt::join(shape.hidden, ","));
  file.metadata["outputs"] = std::to_string(shape.outputs);
  file.metadata["value_head"] = shape.value_head ? "yes" : "no";
  file.metadata["activation"] = shape.activation == Activation::kTanh ? "tanh" : "relu";
  for (const Layer& layer : network.layers()) {
    const auto weights = network.parameters().subspan(layer.weights, layer.biases - layer.weights);
    file.put(layer.name + ".weight", weights, {layer.inputs, layer.outputs});
    file.put(layer.name + ".bias", network.parameters().subspan(layer.biases, layer.outputs));
  }
}

Result<Network> get_network(const TensorFile& file, std::string_view name) {
  NetworkShape shape;
  const auto inputs = width(file, "inputs", name);
  if (!inputs) return pass_on(inputs);
  const auto outputs = width(file, "outputs", name);
  if (!outputs) return pass_on(outputs);
  auto hidden = hidden_widths(file, name);
  if (!hidden) return pass_on(hidden);
  const auto value_head = file.text("value_head", name);
  if (!value_head) return pass_on(value_head);
  if (*value_head != "yes" && *value_head != "no") {
    return fail("{}: metadata 'value_head' is {}, expected yes or no", name,
                in_quotes(*value_head));
  }
  const auto activation = file.text("activation", name);
  if (!activation) return pass_on(activation);
  if (*activation != "tanh" && *activation != "relu") {
    return fail("{}: metadata 'activation' is {}, expected tanh or relu", name,
                in_quotes(*activation));
  }
  shape = {*inputs, std::move(*hidden), *outputs, *value_head == "yes",
           *activation == "tanh" ? Activation::kTanh : Activation::kRelu};
  // The first tensor is looked up before anything of the claimed size is made.
  const std::int64_t first[] = {shape.inputs,
                                shape.hidden.empty() ? shape.outputs : shape.hidden.front()};
  const auto known =
      file.floats(shape.hidden.empty() ? "policy.weight" : "hidden.0.weight", first, name);
  if (!known) return pass_on(known);
  Network network(std::move(shape));
  for (const Layer& layer : network.layers()) {
    const std::int64_t size[] = {layer.inputs, layer.outputs};
    const auto weights = file.floats(layer.name + ".weight", size, name);
    if (!weights) return pass_on(weights);
    const auto biases = file.floats(layer.name + ".bias", {size + 1, 1}, name);
    if (!biases) return pass_on(biases);
    std::copy(weights->begin(), weights->end(), network.parameters().begin() + layer.weights);
    std::copy(biases->begin(), biases->end(), network.parameters().begin() + layer.biases);
  }
  return network;
}

void put_normaliser(TensorFile& file, const Normaliser& normaliser) {
  file.put("normaliser.mean", normaliser.mean);
  file.put("normaliser.scale", normaliser.scale);
}

Result<Normaliser> get_normaliser(const TensorFile& file, int width_of_row, std::string_view name) {
  const std::int64_t size[] = {width_of_row};
  const auto mean = file.floats("normaliser.mean", size, name);
  if (!mean) return pass_on(mean);
  const auto scale = file.floats("normaliser.scale", size, name);
  if (!scale) return pass_on(scale);
  return Normaliser{{mean->begin(), mean->end()}, {scale->begin(), scale->end()}};
}

}  // namespace smartmig
