#include "bound/bound.h"

#include "bound/check.h"
#include "fleet/objective.h"

namespace smartmig {

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return "energy_j";
    case Objective::kTardiness:
      return "avg_tardiness_s";
    case Objective::kEt:
      return "et";
  }
  return "";
}

Weights weights_of(const BoundInput& input, Objective objective) {
  const auto jobs = static_cast<double>(input.jobs.size());
  switch (objective) {
    case Objective::kEnergy:
      return {1, 0};
    case Objective::kTardiness:
      return {0, 1 / jobs};
    case Objective::kEt: {
      const EtWeights et = et_weights(input.energy_weight, input.fleet->gpu_count(), input.days);
      return {et.per_joule, et.per_mean_late_s / jobs};
    }
  }
  return {};
}

Result<CertifiedBound> certify(const BoundInput& input, Objective objective,
                               const AscentOptions& options,
                               const std::function<void(double)>& on_progress) {
  const auto problem = relax(input);
  if (!problem) return pass_on(problem);
  const Weights weights = weights_of(input, objective);
  CertifiedBound bound;
  bound.objective = objective;
  if (weights.per_late_s == 0) {
    // Nothing is gained by ending early, so nothing competes for slices: no prices.
    bound.prices.edges_s = {0};
    bound.prices.value.assign(problem->capacity.size(), 0);
  } else {
    bound.prices = ascend(*problem, weights, options, on_progress).prices;
  }
  bound.value = certified_value(input, weights, bound.prices, options.threads);
  return bound;
}

}  // namespace smartmig
