// Adam (Kingma and Ba 2015) over one vector of parameters, and the clip of its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smartmig {

struct Adam {
  // The usual values; PPO's usual epsilon is 1e-5.
  double decay_mean = 0.9;
  double decay_square = 0.999;
  double epsilon = 1e-5;

  std::vector<float> mean;    // Of the gradient, decayed; empty before the first step.
  std::vector<float> square;  // Of its squares.
  std::int64_t steps = 0;

  void step(std::span<float> parameters, std::span<const float> gradient, double learning_rate);
};

// Scales the gradient down to length `limit` where it is longer; returns the length it had. A limit
// of 0 leaves it as it is.
double clip_gradient(std::span<float> gradient, double limit);

}  // namespace smartmig
