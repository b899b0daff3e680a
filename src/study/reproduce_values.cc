#include "study/reproduce_values.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "fleet/layout_numbers.h"
#include "workload/catalogue.h"
#include "workload/sublinearity.h"

namespace smartmig {
namespace {

FoundValue from(const Estimate& estimate) {
  return {estimate.mean, estimate.low95, estimate.high95};
}

FoundValue from(const Change& change) {
  return {change.mean.value_or(HUGE_VAL), change.low95, change.high95};
}

// A number for each day, as mean or median.
FoundValue over_days(const std::vector<double>& days, bool median, std::uint64_t seed) {
  if (!median) return from(estimate(days, seed));
  const Estimate found = estimate(days, seed);
  const Interval interval = median_interval(days, seed);
  return {found.median, interval.low95, interval.high95};
}

// "4-2-1" has three slices.
double slices_in(const std::string& layout) {
  return static_cast<double>(std::ranges::count(layout, '-') + 1);
}

double layout_share(const Metrics& day, const std::string& names) {
  double share = 0;
  for (const std::string_view name : split(names, '+')) {
    const auto at = day.layouts_pct.find(std::string(name));
    if (at != day.layouts_pct.end()) share += at->second;
  }
  return share;
}

double slices_per_gpu(const Metrics& day) {
  double slices = 0;
  for (const auto& [layout, percent] : day.layouts_pct) slices += percent / 100 * slices_in(layout);
  return slices;
}

FoundValue scaled(FoundValue found, double scale) {
  found.value *= scale;
  if (found.low95) found.low95 = *found.low95 * scale;
  if (found.high95) found.high95 = *found.high95 * scale;
  return found;
}

Result<FoundValue> unscaled_value(const Comparison& comparison, const PublishedRow& row,
                                  std::uint64_t seed) {
  if (row.policy >= comparison.policies.size())
    return fail("policy {}: the run has {}", row.policy, comparison.policies.size());
  const PolicyResult& result = comparison.policies[row.policy];
  const bool bounded = !comparison.bounds.empty();
  const bool energy_bounded = !comparison.energy_bounds_j.empty();
  if (row.of == "et_vs_first_pct") return from(result.et_vs_first);
  if (bounded && row.of == "tardiness_above_bound_pct") return from(result.tardiness_above_bound);
  if (bounded && row.of == "tardiness_above_program_pct")
    return from(result.tardiness_above_program);
  if (energy_bounded && row.of == "energy_above_published_pct")
    return from(result.energy_above_published);
  std::vector<double> days;
  if (row.of == "energy_bound_wmin") {
    for (const double bound_j : comparison.energy_bounds_j)
      days.push_back(bound_j / kJoulesPerWattMinute);
  }
  constexpr std::string_view kLayouts = "layouts:";
  for (const Metrics& day : result.days) {
    if (row.of == "slices_per_gpu") days.push_back(slices_per_gpu(day));
    if (row.of.starts_with(kLayouts))
      days.push_back(layout_share(day, row.of.substr(kLayouts.size())));
  }
  const auto quantity = std::ranges::find(kQuantities, row.of, &Quantity::key);
  if (quantity != kQuantities.end()) {
    for (const Metrics& day : result.days) days.push_back(day.*quantity->of);
  }
  if (days.empty()) return fail("{}: no such value of this comparison", row.of);
  return over_days(days, row.median, seed);
}

std::size_t published_layouts(const Board& board) {
  return static_cast<std::size_t>(LayoutNumbers(board).choices());
}

}  // namespace

Result<FoundValue> value_of(const Comparison& comparison, const PublishedRow& row,
                            std::uint64_t seed) {
  const auto found = unscaled_value(comparison, row, seed);
  if (!found) return pass_on(found);
  return scaled(*found, row.scale);
}

Result<FoundValue> geometry_value(const PublishedRow& row) {
  const auto board = BoardTable::shipped().find("A100-40GB");
  SM_CHECK(board.has_value());
  const SlotSet base = base_slots(**board);
  std::size_t count = 0;
  if (row.of == "legal_sets") {
    count = legal_sets(**board, base).size();
  } else if (row.of == "maximal_placements") {
    count = maximal_sets(**board, base).size();
  } else if (row.of == "layouts") {
    count = layouts(**board, base).size();
  } else if (row.of == "published_layouts") {
    count = published_layouts(**board);
  } else {
    return fail("{}: no such count of a board", row.of);
  }
  return FoundValue{static_cast<double>(count), {}, {}};
}

Result<FoundValue> speed_value(const PublishedRow& row) {
  constexpr std::string_view kScore = "score:";
  const bool score = row.of.starts_with(kScore);
  const std::string name =
      score ? row.of.substr(kScore.size()) : row.of.substr(0, row.of.find('@'));
  const auto found = Catalogue::shipped().find(name);
  if (!found) return pass_on(found);
  const auto& speed = Catalogue::shipped().profiles()[*found].speed;
  if (score) {
    const auto value = sublinearity(speed);
    if (!value) return fail("{}: the profile lacks a size", row.of);
    return FoundValue{*value, {}, {}};
  }
  const auto size = parse_integer(row.of.substr(std::min(row.of.size(), name.size() + 1)));
  const int index = size ? size_index(static_cast<int>(*size)) : -1;
  if (index < 0) return fail("{}: expected PROFILE@1, 2, 3, 4 or 7", row.of);
  return FoundValue{speed[static_cast<std::size_t>(index)] / speed[0], {}, {}};
}

Result<FoundValue> jobs_value(const PublishedRow& row, std::span<const WorkloadStats> days,
                              std::uint64_t seed) {
  constexpr std::string_view kHour = "hour:";
  std::size_t hour = 0;
  if (row.of.starts_with(kHour)) {
    const auto number = parse_integer(row.of.substr(kHour.size()));
    if (!number || *number < 0 || *number > 23) return fail("{}: expected hour:0 to 23", row.of);
    hour = static_cast<std::size_t>(*number);
  } else if (row.of != "jobs" && row.of != "sublinearity") {
    return fail("{}: no such value of the generator's days", row.of);
  }
  std::vector<double> values;
  for (const WorkloadStats& day : days) {
    values.push_back(row.of == "jobs"           ? static_cast<double>(day.jobs)
                     : row.of == "sublinearity" ? day.sublinearity.value_or(0)
                                                : day.by_hour[hour]);
  }
  return scaled(over_days(values, row.median, seed), row.scale);
}

}  // namespace smartmig
