// What the pictures of a report need of runs beyond their metrics, in a form that sums over days:
// how late jobs were, where the energy went, and which layouts stood at which hour. Of engines that
// ran with records on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/engine.h"

namespace smartmig {

struct RunShapes {
  // Tardiness by steps that grow by a tenth of a decade, from a tenth of a second on: bin 0 is what
  // was not late, bin i what was late by no more than late_limit_s(i), the last bin all the rest.
  static constexpr std::size_t kLateBins = 92;
  static double late_limit_s(std::size_t bin);

  std::size_t jobs = 0;
  std::array<std::uint64_t, kLateBins> late_jobs{};
  std::vector<double> gpu_energy_j;
  // The jobs' shares of what boards drew above idle (docs/formats/run-files.md), and the rest.
  double inference_j = 0;
  double training_j = 0;
  double idle_j = 0;
  // Time that GPUs were set to a layout, by its name and the hour of the clock of the submit times;
  // under "failed" the time that they were down.
  std::map<std::string, std::array<TimeUs, 24>> layout_us;

  void add(const RunShapes& other);
};

// O(jobs + records).
RunShapes shapes_of(const Engine& engine);

}  // namespace smartmig
