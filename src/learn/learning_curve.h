// Learning curves as CSV, one row for each iteration or generation. Speed is left out: the rest is
// the same in every run.
#pragma once

#include <span>
#include <string>

#include "learn/evolution.h"
#include "learn/ppo.h"

namespace smartmig {

std::string curve_csv(std::span<const PpoProgress> rows);
std::string curve_csv(std::span<const EvolutionProgress> rows);

}  // namespace smartmig
