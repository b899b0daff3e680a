// The numbers of a run: energy, tardiness, and ET, the objective that weighs them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "fleet/objective.h"
#include "sim/engine.h"

namespace smartmig {

struct Metrics {
  std::size_t jobs = 0;
  double energy_j = 0;
  double energy_wmin = 0;  // The papers' unit.
  double energy_per_job_j = 0;
  double avg_tardiness_s = 0;
  double median_tardiness_s = 0;
  double p95_tardiness_s = 0;
  double p99_tardiness_s = 0;
  double late_pct = 0;
  // From submit to first start; 0 unless the engine kept start times.
  double p99_wait_s = 0;
  double worst_wait_s = 0;
  double et =
      0;  // In the papers' units: (a * W*min + minutes) / (a + 1), E scaled to 8 GPUs and one day.
  double makespan_s = 0;         // First submit to last completion: the run's length.
  std::optional<double> span_s;  // Of a trace: first submit to last submit.
  long events = 0;
  long repartitions = 0;
  long preemptions = 0;
  // With a tariff (study/tariff.h), else 0.
  double cost = 0;  // In the tariff's money.
  double co2_kg = 0;
  // Percent of the time in each layout; where the engine kept it.
  std::map<std::string, double> layouts_pct;
  TurnCounts turns;  // Of a partitioner that decides now and then; else zeros.
};

// Of a run that has ended. O(jobs).
Metrics measure(const Engine& engine, double energy_weight);

// The value below which a share q of the sorted values lies, by linear interpolation.
double quantile(const std::vector<double>& sorted, double q);

}  // namespace smartmig
