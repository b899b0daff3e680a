// Lower bounds for a workload on a fleet: no schedule, under whatever policy and costs, does
// better.
#pragma once

#include <functional>

#include "bound/ascent.h"
#include "bound/prices.h"
#include "bound/problem.h"

namespace smartmig {

enum class Objective { kEnergy, kTardiness, kEt };
std::string_view to_string(Objective objective);
// In joules, seconds of mean tardiness, or the papers' ET.
Weights weights_of(const BoundInput& input, Objective objective);

// A bound with what proves it. The value is what bound/check.h makes of the prices, not what the
// search for them believed.
struct CertifiedBound {
  Objective objective = Objective::kEt;
  double value = 0;
  Prices prices;
};

// `on_progress`, if any, gets the share of the work done.
Result<CertifiedBound> certify(const BoundInput& input, Objective objective,
                               const AscentOptions& options,
                               const std::function<void(double)>& on_progress = {});

}  // namespace smartmig
