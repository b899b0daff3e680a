// Bounds of one workload, for a reader and for a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bound/bound.h"
#include "bound/tardiness_program.h"

namespace smartmig {

struct BoundSummary {
  std::string workload;
  std::string fleet;
  std::string costs;
  std::size_t jobs = 0;
  double energy_weight = 2e-7;
  double days = 1;
  std::size_t gpus = 0;
  double linearised_energy_j = 0;
  bool linearised_applies = true;  // Else its assumptions on energy do not hold here.
  ProgramBound program;
  double energy_j = 0;
  double avg_tardiness_s = 0;
  double et = 0;
  std::size_t stretches = 0;        // Of the ET bound's prices.
  std::vector<std::string> speeds;  // speed_assumptions().
  double wall_s = 0;                // JSON only: the text is the same every time.

  double linearised_et() const;
};

std::string to_text(const BoundSummary& summary);
nlohmann::ordered_json to_json(const BoundSummary& summary);

}  // namespace smartmig
