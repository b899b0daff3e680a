// What a training keeps beside the state of its trainer, in the same checkpoint: the recipe, which
// stage it is at, the learning curve so far, and what earlier stages left behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "learn/training_stages.h"

namespace smartmig {

struct TrainingState {
  std::string recipe;  // Its text.
  std::ptrdiff_t stage = 0;
  std::vector<PpoProgress> curve;
  Levels levels;
};

void put_training(TensorFile& file, const TrainingState& state);
// Into a state that has its recipe, which must be the file's; `name` is for the error.
Result<void> get_training(const TensorFile& file, std::string_view name, TrainingState& state);

}  // namespace smartmig
