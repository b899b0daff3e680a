// A dense network in float32: hidden layers shared by a policy head (logits) and, where wanted, a
// value head (one number). All parameters lie in one vector, so that an optimiser, a clip or a file
// sees one array; layers() says which part is what.
//
//   Network network({.inputs = 54, .hidden = {64, 64}, .outputs = 144});
//   network.initialise(random);
//   network.forward(observations, rows, workspace, logits, values);
//   network.backward(observations, rows, workspace, d_logits, d_values, gradient);
//
// Arrays are row-major, one row for each example. forward() leaves in the workspace what the next
// backward() of the same rows needs. Calls on one network may run side by side, each with its own
// workspace; a result depends on the rows of its call alone. Give a few hundred rows at a time:
// what lies between two layers then stays in the cache.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"

namespace smartmig {

enum class Activation { kTanh, kRelu };

struct NetworkShape {
  int inputs = 0;
  std::vector<int> hidden;
  int outputs = 0;
  bool value_head = true;
  Activation activation = Activation::kTanh;

  bool operator==(const NetworkShape&) const = default;
};

// outputs = inputs * weights + biases; weights are inputs x outputs, row-major.
struct Layer {
  std::string name;  // hidden.0, hidden.1, ..., policy, value
  int inputs = 0;
  int outputs = 0;
  std::size_t weights = 0;  // Where they begin in the parameters.
  std::size_t biases = 0;
};

// Buffers of one caller; they grow at the first call of a size and are kept.
class Workspace {
 private:
  friend class Network;
  std::vector<std::vector<float>> activations_;  // After each hidden layer.
  std::vector<float> gradient_;                  // With respect to the layer at hand,
  std::vector<float> next_;                      // and to the one below it.
};

class Network {
 public:
  explicit Network(NetworkShape shape);

  const NetworkShape& shape() const { return shape_; }
  std::span<const Layer> layers() const { return layers_; }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

  // Orthogonal weights (Saxe et al. 2013), biases 0; gains as in the usual PPO: sqrt(2) for hidden
  // layers, .01 for the policy (all options nearly alike at first), 1 for the value.
  void initialise(Random& random);

  // `logits`: rows x outputs; `values`: one for each row, empty where they are not wanted.
  void forward(std::span<const float> inputs, std::size_t rows, Workspace& workspace,
               std::span<float> logits, std::span<float> values) const;
  // Adds to `gradient`, as long as the parameters, that of a loss with these derivatives with
  // respect to logits and values; `d_values` is empty where the loss has no part in them.
  void backward(std::span<const float> inputs, std::size_t rows, Workspace& workspace,
                std::span<const float> d_logits, std::span<const float> d_values,
                std::span<float> gradient) const;

 private:
  std::size_t hidden_layers() const { return shape_.hidden.size(); }
  const Layer& policy() const { return layers_[hidden_layers()]; }
  const Layer& value() const { return layers_[hidden_layers() + 1]; }

  NetworkShape shape_;
  std::vector<Layer> layers_;
  std::vector<float> parameters_;
};

}  // namespace smartmig
