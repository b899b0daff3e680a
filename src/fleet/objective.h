// ET, the objective that weighs energy against tardiness, in the papers' units (W*min and minutes).
#pragma once

#include "base/units.h"

namespace smartmig {

// What one joule of total energy, and one second of mean tardiness, add to ET. Energy is scaled to
// 8 GPUs and one day; `days` is the workload's nominal length, and a workload without length (all
// jobs at once) is taken as a day.
struct EtWeights {
  double per_joule = 0;
  double per_mean_late_s = 0;
};
inline EtWeights et_weights(double energy_weight, double gpus, double days) {
  const double scale = 8 / gpus / (days > 0 ? days : 1);
  return {energy_weight * scale / kJoulesPerWattMinute / (energy_weight + 1),
          1.0 / 60 / (energy_weight + 1)};
}

// ET of a total energy and a mean tardiness.
inline double weigh(double energy_j, double avg_tardiness_s, double energy_weight, double gpus,
                    double days) {
  const double scaled_wmin = energy_j / kJoulesPerWattMinute * 8 / gpus / (days > 0 ? days : 1);
  return (energy_weight * scaled_wmin + avg_tardiness_s / 60) / (energy_weight + 1);
}

}  // namespace smartmig
