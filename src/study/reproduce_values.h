// The values that rows of data/published.json name, out of what a run found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "study/compare.h"
#include "study/published_items.h"
#include "workload/stats.h"

namespace smartmig {

struct FoundValue {
  double value = 0;
  std::optional<double> low95, high95;
};

// `of` is a key of kQuantities; et_vs_first_pct; energy_above_published_pct,
// tardiness_above_bound_pct or tardiness_above_program_pct, infinite above a bound of 0;
// energy_bound_wmin, the published bound itself; slices_per_gpu; or layouts:A+B, percent of the
// time in one of these. Errors name what is not there.
Result<FoundValue> value_of(const Comparison& comparison, const PublishedRow& row,
                            std::uint64_t seed);
// legal_sets, maximal_placements, layouts, published_layouts: of an A100-40GB.
Result<FoundValue> geometry_value(const PublishedRow& row);
// PROFILE@SIZE, its speed there over that on 1g; score:PROFILE, its sublinearity.
Result<FoundValue> speed_value(const PublishedRow& row);
// Over days of the papers' generator: jobs, sublinearity, hour:H (submits in that hour over the
// mean of hours).
Result<FoundValue> jobs_value(const PublishedRow& row, std::span<const WorkloadStats> days,
                              std::uint64_t seed);

}  // namespace smartmig
