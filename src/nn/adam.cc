#include "nn/adam.h"

#include <cmath>

#include "base/result.h"
#include "nn/flush_denormals.h"

namespace smartmig {

void Adam::step(std::span<float> parameters, std::span<const float> gradient,
                double learning_rate) {
  SM_CHECK(parameters.size() == gradient.size());
  if (mean.empty()) {
    mean.resize(parameters.size());
    square.resize(parameters.size());
  }
  SM_CHECK(mean.size() == parameters.size() && square.size() == parameters.size());
  const FlushDenormals flush;
  ++steps;
  const auto t = static_cast<double>(steps);
  // Both averages begin at 0, which these make up for.
  const auto rate = static_cast<float>(learning_rate / (1 - std::pow(decay_mean, t)));
  const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(decay_square, t)));
  const auto keep_mean = static_cast<float>(decay_mean);
  const auto keep_square = static_cast<float>(decay_square);
  const auto new_mean = static_cast<float>(1 - decay_mean);
  const auto new_square = static_cast<float>(1 - decay_square);
  const auto small = static_cast<float>(epsilon);
  float* m = mean.data();
  float* v = square.data();
  float* x = parameters.data();
  const float* g = gradient.data();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    m[i] = keep_mean * m[i] + new_mean * g[i];
    v[i] = keep_square * v[i] + new_square * g[i] * g[i];
    x[i] -= rate * m[i] / (std::sqrt(v[i]) * scale + small);
  }
}

double clip_gradient(std::span<float> gradient, double limit) {
  const FlushDenormals flush;
  double square = 0;
  for (float g : gradient) square += static_cast<double>(g) * g;
  const double length = std::sqrt(square);
  // A little under the limit, as PyTorch has it.
  if (limit > 0 && length > limit) {
    const auto factor = static_cast<float>(limit / (length + 1e-6));
    for (float& g : gradient) g *= factor;
  }
  return length;
}

}  // namespace smartmig
