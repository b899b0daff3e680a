#include "nn/network.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "nn/eigen.h"
#include "nn/elementary.h"
#include "nn/flush_denormals.h"

namespace smartmig {
namespace {

// Eigen cuts a product by the sizes of the caches it finds, and sums in the order of the cuts: with
// sizes of our own (those of a common server core) every machine sums alike.
[[maybe_unused]] const bool kSameBlocksEverywhere = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  return true;
}();

ConstMatrixView weights_of(std::span<const float> parameters, const Layer& layer) {
  return {parameters.data() + layer.weights, layer.inputs, layer.outputs};
}

MatrixView weights_of(std::span<float> parameters, const Layer& layer) {
  return {parameters.data() + layer.weights, layer.inputs, layer.outputs};
}

// outputs = inputs * weights + biases.
void affine(std::span<const float> parameters, const Layer& layer, const float* inputs,
            std::size_t rows, float* outputs) {
  const float* biases = parameters.data() + layer.biases;
  const auto width = static_cast<std::size_t>(layer.outputs);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(biases, width, outputs + row * width);
  }
  const auto weights = weights_of(parameters, layer);
  if (rows == 1) {
    add_product(VectorView(outputs, layer.outputs), weights.transpose(),
                ConstVectorView(inputs, layer.inputs));
  } else {
    const auto n = static_cast<Eigen::Index>(rows);
    add_product(MatrixView(outputs, n, layer.outputs), ConstMatrixView(inputs, n, layer.inputs),
                weights);
  }
}

void activate(Activation activation, float* values, std::size_t count) {
  if (activation == Activation::kTanh) {
    tanh_all(values, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > 0 ? values[i] : 0.0F;
  }
}

// Turns a derivative with respect to an activation's outputs into one with respect to its inputs.
void deactivate(Activation activation, const float* outputs, float* gradient, std::size_t count) {
  if (activation == Activation::kTanh) {
    for (std::size_t i = 0; i < count; ++i) gradient[i] *= 1.0F - outputs[i] * outputs[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) gradient[i] = outputs[i] > 0 ? gradient[i] : 0.0F;
  }
}

// Adds a layer's share of the gradient.
void add_layer_gradient(const Layer& layer, const float* inputs, const float* d_outputs,
                        std::size_t rows, std::span<float> gradient) {
  const auto n = static_cast<Eigen::Index>(rows);
  add_product(weights_of(gradient, layer), ConstMatrixView(inputs, n, layer.inputs).transpose(),
              ConstMatrixView(d_outputs, n, layer.outputs));
  float* biases = gradient.data() + layer.biases;
  for (std::size_t row = 0; row < rows; ++row) {
    for (int o = 0; o < layer.outputs; ++o) biases[o] += d_outputs[row * layer.outputs + o];
  }
}

// d_inputs = d_outputs * transposed weights.
void pass_back(std::span<const float> parameters, const Layer& layer, const float* d_outputs,
               std::size_t rows, float* d_inputs) {
  std::fill_n(d_inputs, rows * layer.inputs, 0.0F);
  const auto n = static_cast<Eigen::Index>(rows);
  add_product(MatrixView(d_inputs, n, layer.inputs), ConstMatrixView(d_outputs, n, layer.outputs),
              weights_of(parameters, layer).transpose());
}

// Rows (or columns, whichever are fewer) orthonormal, times `gain`: Gram-Schmidt over normal draws,
// in double and twice, which is as good as a QR decomposition.
void make_orthogonal(std::span<float> weights, int inputs, int outputs, double gain,
                     Random& random) {
  const int vectors = std::min(inputs, outputs);
  const int length = std::max(inputs, outputs);
  std::vector<std::vector<double>> basis;
  for (int v = 0; v < vectors; ++v) {
    std::vector<double> x(static_cast<std::size_t>(length));
    for (double& value : x) value = random.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& other : basis) {
        double dot = 0;
        for (std::size_t i = 0; i < x.size(); ++i) dot += x[i] * other[i];
        for (std::size_t i = 0; i < x.size(); ++i) x[i] -= dot * other[i];
      }
    }
    double square = 0;
    for (double value : x) square += value * value;
    for (double& value : x) value /= std::sqrt(square);
    basis.push_back(std::move(x));
  }
  for (int i = 0; i < inputs; ++i) {
    for (int o = 0; o < outputs; ++o) {
      const double value = inputs <= outputs ? basis[i][o] : basis[o][i];
      weights[static_cast<std::size_t>(i) * outputs + o] = static_cast<float>(gain * value);
    }
  }
}

void grow(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

Network::Network(NetworkShape shape) : shape_(std::move(shape)) {
  SM_CHECK(shape_.inputs > 0 && shape_.outputs > 0);
  std::size_t next = 0;
  const auto add = [&](std::string name, int inputs, int outputs) {
    SM_CHECK(outputs > 0);
    Layer layer{std::move(name), inputs, outputs, next, 0};
    layer.biases = next + static_cast<std::size_t>(inputs) * outputs;
    next = layer.biases + outputs;
    layers_.push_back(std::move(layer));
  };
  int width = shape_.inputs;
  for (std::size_t i = 0; i < hidden_layers(); ++i) {
    add(fmt::format("hidden.{}", i), width, shape_.hidden[i]);
    width = shape_.hidden[i];
  }
  add("policy", width, shape_.outputs);
  if (shape_.value_head) add("value", width, 1);
  parameters_.resize(next);
}

void Network::initialise(Random& random) {
  std::fill(parameters_.begin(), parameters_.end(), 0.0F);
  for (const Layer& layer : layers_) {
    const double gain = layer.name == "policy"  ? 0.01
                        : layer.name == "value" ? 1.0
                                                : std::sqrt(2.0);
    make_orthogonal({parameters_.data() + layer.weights, layer.biases - layer.weights},
                    layer.inputs, layer.outputs, gain, random);
  }
}

void Network::forward(std::span<const float> inputs, std::size_t rows, Workspace& workspace,
                      std::span<float> logits, std::span<float> values) const {
  SM_CHECK(inputs.size() == rows * shape_.inputs && logits.size() == rows * shape_.outputs);
  SM_CHECK(values.empty() || (shape_.value_head && values.size() == rows));
  const FlushDenormals flush;
  workspace.activations_.resize(hidden_layers());
  const float* below = inputs.data();
  for (std::size_t i = 0; i < hidden_layers(); ++i) {
    const std::size_t count = rows * layers_[i].outputs;
    grow(workspace.activations_[i], count);
    float* out = workspace.activations_[i].data();
    affine(parameters_, layers_[i], below, rows, out);
    activate(shape_.activation, out, count);
    below = out;
  }
  affine(parameters_, policy(), below, rows, logits.data());
  if (!values.empty()) affine(parameters_, value(), below, rows, values.data());
}

void Network::backward(std::span<const float> inputs, std::size_t rows, Workspace& workspace,
                       std::span<const float> d_logits, std::span<const float> d_values,
                       std::span<float> gradient) const {
  SM_CHECK(inputs.size() == rows * shape_.inputs && d_logits.size() == rows * shape_.outputs);
  SM_CHECK(d_values.empty() || (shape_.value_head && d_values.size() == rows));
  SM_CHECK(gradient.size() == parameters_.size());
  SM_CHECK(workspace.activations_.size() == hidden_layers());
  const FlushDenormals flush;
  const std::size_t hidden = hidden_layers();
  const float* top = hidden ? workspace.activations_.back().data() : inputs.data();
  add_layer_gradient(policy(), top, d_logits.data(), rows, gradient);
  if (!d_values.empty()) add_layer_gradient(value(), top, d_values.data(), rows, gradient);
  if (!hidden) return;
  // Both as wide as the widest layer: they change places.
  const int widest = *std::max_element(shape_.hidden.begin(), shape_.hidden.end());
  grow(workspace.gradient_, rows * widest);
  grow(workspace.next_, rows * widest);
  pass_back(parameters_, policy(), d_logits.data(), rows, workspace.gradient_.data());
  if (!d_values.empty()) {
    const float* weights = parameters_.data() + value().weights;
    for (std::size_t row = 0; row < rows; ++row) {
      float* d_top = workspace.gradient_.data() + row * value().inputs;
      for (int i = 0; i < value().inputs; ++i) d_top[i] += d_values[row] * weights[i];
    }
  }
  for (std::size_t i = hidden; i-- > 0;) {
    const Layer& layer = layers_[i];
    deactivate(shape_.activation, workspace.activations_[i].data(), workspace.gradient_.data(),
               rows * layer.outputs);
    const float* below = i ? workspace.activations_[i - 1].data() : inputs.data();
    add_layer_gradient(layer, below, workspace.gradient_.data(), rows, gradient);
    if (i == 0) break;
    pass_back(parameters_, layer, workspace.gradient_.data(), rows, workspace.next_.data());
    std::swap(workspace.gradient_, workspace.next_);
  }
}

}  // namespace smartmig
