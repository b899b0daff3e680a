#include "nn/network.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smartmig {
namespace {

std::vector<float> random_values(std::size_t count, Random& random) {
  std::vector<float> out(count);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

struct Outputs {
  std::vector<double> logits;
  std::vector<double> values;
};

// The definition, in double and by single sums.
Outputs reference(const Network& network, std::span<const double> parameters,
                  std::span<const float> inputs, std::size_t rows) {
  Outputs out;
  const NetworkShape& shape = network.shape();
  const auto apply = [&](const Layer& layer, const std::vector<double>& x) {
    std::vector<double> y(layer.outputs);
    for (int o = 0; o < layer.outputs; ++o) {
      y[o] = parameters[layer.biases + o];
      for (int i = 0; i < layer.inputs; ++i) {
        y[o] += x[i] * parameters[layer.weights + i * layer.outputs + o];
      }
    }
    return y;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = inputs.begin() + row * shape.inputs;
    std::vector<double> x(first, first + shape.inputs);
    std::size_t next = 0;
    for (; next < shape.hidden.size(); ++next) {
      x = apply(network.layers()[next], x);
      for (double& v : x)
        v = shape.activation == Activation::kTanh ? std::tanh(v) : std::max(v, 0.);
    }
    const auto logits = apply(network.layers()[next], x);
    out.logits.insert(out.logits.end(), logits.begin(), logits.end());
    if (shape.value_head) out.values.push_back(apply(network.layers()[next + 1], x)[0]);
  }
  return out;
}

std::vector<NetworkShape> shapes() {
  return {{.inputs = 5, .hidden = {7, 6}, .outputs = 4},
          {.inputs = 9, .hidden = {16}, .outputs = 3, .activation = Activation::kRelu},
          {.inputs = 3, .hidden = {}, .outputs = 2},
          {.inputs = 11, .hidden = {33, 5, 12}, .outputs = 10, .value_head = false}};
}

TEST(Network, PutsOutWhatItsDefinitionSays) {
  Random random(1, "network");
  for (const NetworkShape& shape : shapes()) {
    Network network(shape);
    for (float& p : network.parameters()) p = static_cast<float>(0.5 * random.normal());
    const std::vector<double> exact(network.parameters().begin(), network.parameters().end());
    Workspace workspace;
    for (std::size_t rows : {1UL, 2UL, 37UL}) {
      const auto inputs = random_values(rows * shape.inputs, random);
      std::vector<float> logits(rows * shape.outputs);
      std::vector<float> values(shape.value_head ? rows : 0);
      network.forward(inputs, rows, workspace, logits, values);
      const Outputs expected = reference(network, exact, inputs, rows);
      for (std::size_t i = 0; i < logits.size(); ++i) {
        ASSERT_NEAR(logits[i], expected.logits[i], 2e-5) << rows << " rows, logit " << i;
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], expected.values[i], 2e-5);
      }
    }
  }
}

// The loss is linear in the outputs, with random coefficients: its derivatives are these.
TEST(Network, HasTheGradientOfFiniteDifferences) {
  Random random(2, "gradient");
  for (const NetworkShape& shape : shapes()) {
    Network network(shape);
    for (float& p : network.parameters()) p = static_cast<float>(0.5 * random.normal());
    constexpr std::size_t kRows = 6;
    const auto inputs = random_values(kRows * shape.inputs, random);
    const auto d_logits = random_values(kRows * shape.outputs, random);
    const auto d_values = random_values(shape.value_head ? kRows : 0, random);
    std::vector<float> logits(d_logits.size());
    std::vector<float> values(d_values.size());
    std::vector<float> gradient(network.parameters().size());
    Workspace workspace;
    network.forward(inputs, kRows, workspace, logits, values);
    network.backward(inputs, kRows, workspace, d_logits, d_values, gradient);
    std::vector<double> moved(network.parameters().begin(), network.parameters().end());
    const auto loss = [&] {
      const Outputs out = reference(network, moved, inputs, kRows);
      double sum = 0;
      for (std::size_t i = 0; i < d_logits.size(); ++i) sum += d_logits[i] * out.logits[i];
      for (std::size_t i = 0; i < d_values.size(); ++i) sum += d_values[i] * out.values[i];
      return sum;
    };
    for (std::size_t i = 0; i < moved.size(); ++i) {
      constexpr double kStep = 1e-6;
      const double at = moved[i];
      moved[i] = at + kStep;
      const double above = loss();
      moved[i] = at - kStep;
      const double below = loss();
      moved[i] = at;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), 5e-5) << "parameter " << i;
    }
  }
}

// A rollout must not change with the place where the allocator puts a buffer.
TEST(Network, GivesTheSameBitsWhereverItsArraysLie) {
  Random random(5, "place");
  for (const NetworkShape& shape : shapes()) {
    const auto run = [&](std::size_t rows, std::size_t shift) {
      Network network(shape);
      Random weights(6, "weights");
      network.initialise(weights);
      Random values(7, "values");
      const auto moved = [&](std::size_t count) {
        std::vector<float> out(shift, 0.0F);
        const auto drawn = random_values(count, values);
        out.insert(out.end(), drawn.begin(), drawn.end());
        return out;
      };
      const auto inputs = moved(rows * shape.inputs);
      const auto d_logits = moved(rows * shape.outputs);
      const auto d_values = moved(shape.value_head ? rows : 0);
      std::vector<float> logits(rows * shape.outputs + shift);
      std::vector<float> predicted(d_values.size());
      std::vector<float> gradient(network.parameters().size() + shift);
      Workspace workspace;
      const auto behind = [&](auto& v) { return std::span(v).subspan(shift); };
      network.forward(behind(inputs), rows, workspace, behind(logits), behind(predicted));
      network.backward(behind(inputs), rows, workspace, behind(d_logits), behind(d_values),
                       behind(gradient));
      logits.erase(logits.begin(), logits.begin() + shift);
      logits.insert(logits.end(), predicted.begin() + shift, predicted.end());
      logits.insert(logits.end(), gradient.begin() + shift, gradient.end());
      return logits;
    };
    for (std::size_t rows : {1UL, 3UL, 64UL}) {
      const auto expected = run(rows, 0);
      for (std::size_t shift = 1; shift < 16; ++shift) EXPECT_TRUE(run(rows, shift) == expected);
    }
  }
}

TEST(Network, AddsToTheGradientItIsGiven) {
  Random random(3, "adds");
  Network network({.inputs = 4, .hidden = {8}, .outputs = 3});
  network.initialise(random);
  const auto inputs = random_values(20, random);
  const auto d_logits = random_values(15, random);
  std::vector<float> logits(15);
  Workspace workspace;
  network.forward(inputs, 5, workspace, logits, {});
  std::vector<float> once(network.parameters().size());
  network.backward(inputs, 5, workspace, d_logits, {}, once);
  std::vector<float> more(once.size(), 3.0F);
  network.backward(inputs, 5, workspace, d_logits, {}, more);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(more[i], 3 + once[i], 1e-5);
}

TEST(Network, BeginsWithOrthogonalWeightsOfTheGainOfTheirLayer) {
  Random random(4, "orthogonal");
  Network network({.inputs = 20, .hidden = {8, 30}, .outputs = 6});
  network.initialise(random);
  const double gains[] = {std::sqrt(2.0), std::sqrt(2.0), 0.01, 1.0};
  for (std::size_t l = 0; l < network.layers().size(); ++l) {
    const Layer& layer = network.layers()[l];
    const auto weight = [&](int i, int o) -> double {
      return network.parameters()[layer.weights + i * layer.outputs + o];
    };
    const bool by_output = layer.outputs <= layer.inputs;
    const int vectors = by_output ? layer.outputs : layer.inputs;
    const int length = by_output ? layer.inputs : layer.outputs;
    for (int a = 0; a < vectors; ++a) {
      for (int b = 0; b <= a; ++b) {
        double dot = 0;
        for (int k = 0; k < length; ++k) {
          dot += by_output ? weight(k, a) * weight(k, b) : weight(a, k) * weight(b, k);
        }
        ASSERT_NEAR(dot / (gains[l] * gains[l]), a == b ? 1 : 0, 1e-5) << layer.name;
      }
    }
    for (int o = 0; o < layer.outputs; ++o) EXPECT_EQ(network.parameters()[layer.biases + o], 0);
  }
}

}  // namespace
}  // namespace smartmig
