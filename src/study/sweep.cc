#include "study/sweep.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/text.h"
#include "study/knee.h"

namespace smartmig {
namespace {

constexpr std::size_t kMaxValues = 1000;  // Of an axis; a grid of more runs for days.

// "4..16" as numbers, anything else as it stands.
Result<void> add_values(std::string_view term, std::vector<std::string>& values) {
  const std::size_t dots = term.find("..");
  if (dots == std::string_view::npos) {
    values.emplace_back(term);
    return {};
  }
  const auto from = parse_integer(term.substr(0, dots));
  const auto to = parse_integer(term.substr(dots + 2));
  if (!from || !to || *from > *to || *from < 0 ||
      *to - *from >= static_cast<std::int64_t>(kMaxValues)) {
    return fail("--sweep: found {}, expected A..B, whole numbers in order and at most {} of them",
                in_quotes(term), kMaxValues);
  }
  for (std::int64_t value = *from; value <= *to; ++value) values.push_back(std::to_string(value));
  return {};
}

}  // namespace

Result<SweepAxis> parse_sweep_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    return fail("--sweep: found {}, expected KEY=VALUES, as in gpus=4..16 or rate=12,16,20",
                in_quotes(text));
  }
  SweepAxis axis;
  axis.key = std::string(text.substr(0, equals));
  for (const std::string_view term : split(text.substr(equals + 1), ',')) {
    if (const auto added = add_values(term, axis.values); !added) return pass_on(added);
  }
  if (axis.values.size() > kMaxValues)
    return fail("--sweep: {} has over {} values", axis.key, kMaxValues);
  std::vector<std::string> sorted = axis.values;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return fail("--sweep: {} has {} twice", axis.key, in_quotes(*twice));
  return axis;
}

Result<SweepTarget> parse_sweep_target(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  std::vector<std::string> keys;
  for (const Quantity& quantity : kQuantities) keys.emplace_back(quantity.key);
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) {
    return fail("--target: found {}, expected QUANTITY=VALUE, as in late_pct=5{}", in_quotes(text),
                suggestion(key, keys));
  }
  const auto value =
      equals == std::string_view::npos ? std::nullopt : parse_number(text.substr(equals + 1));
  if (!value)
    return fail("--target: found {}, expected a number after '{}='", in_quotes(text), key);
  return SweepTarget{static_cast<std::size_t>(at - keys.begin()), *value};
}

double SweepPoint::mean(std::size_t policy, std::size_t quantity) const {
  const double found = comparison.policies[policy].estimates[quantity].mean;
  return kQuantities[quantity].of == &Metrics::late_pct ? late_pct(found) : found;
}

double SweepPoint::late_pct(double of_those_that_ran) const {
  const double share = static_cast<double>(unfit) / static_cast<double>(jobs + unfit);
  return of_those_that_ran * (1 - share) + 100 * share;
}

LateParts late_parts(const SweepPoint& point, std::size_t policy) {
  LateParts parts;
  parts.unfit_pct = point.late_pct(0);
  parts.short_deadline_pct = point.late_pct(point.late_at_once_pct) - parts.unfit_pct;
  const double late = point.late_pct(point.comparison.policies[policy][&Metrics::late_pct].mean);
  parts.waiting_pct = late - parts.unfit_pct - parts.short_deadline_pct;
  return parts;
}

std::optional<std::size_t> Sweep::axis(std::string_view key) const {
  const auto at = std::ranges::find(axes, key, &SweepAxis::key);
  if (at == axes.end()) return std::nullopt;
  return static_cast<std::size_t>(at - axes.begin());
}

std::vector<std::vector<std::string>> grid(const std::vector<SweepAxis>& axes) {
  std::vector<std::vector<std::string>> points = {{}};
  for (const SweepAxis& axis : axes) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<SweepLine> lines_along(const Sweep& sweep, std::size_t axis) {
  std::size_t stride = 1;  // Between two points that differ by one step of the axis.
  for (std::size_t a = axis + 1; a < sweep.axes.size(); ++a) stride *= sweep.axes[a].values.size();
  const std::size_t steps = sweep.axes[axis].values.size();
  std::vector<SweepLine> lines;
  for (std::size_t first = 0; first < sweep.points.size(); ++first) {
    if (first / stride % steps != 0) continue;
    SweepLine& line = lines.emplace_back();
    for (std::size_t step = 0; step < steps; ++step) line.push_back(first + step * stride);
  }
  return lines;
}

std::optional<std::size_t> knee_of(const Sweep& sweep, const SweepLine& line, std::size_t policy) {
  std::vector<PlanePoint> curve;
  for (const std::size_t point : line) {
    const PolicyResult& result = sweep.points[point].comparison.policies[policy];
    curve.push_back({result[&Metrics::energy_j].mean, result[&Metrics::avg_tardiness_s].mean});
  }
  const auto knee = find_knee(curve);
  if (!knee) return std::nullopt;
  return line[*knee];
}

SweepAnswer answer(const Sweep& sweep, const SweepLine& line, std::size_t policy,
                   const SweepTarget& target) {
  const auto mean = [&](std::size_t point) {
    return sweep.points[point].mean(policy, target.quantity);
  };
  const auto meets = [&](std::size_t point) { return mean(point) <= target.at_most; };
  const auto first = std::ranges::find_if(line, meets);
  if (first == line.end()) return {*std::ranges::min_element(line, {}, mean), false, 0};
  const auto missed = std::count_if(first, line.end(), std::not_fn(meets));
  return {*first, true, static_cast<std::size_t>(missed)};
}

std::vector<std::size_t> rank_answers(const Sweep& sweep, const SweepLine& line,
                                      const SweepTarget& target) {
  const std::size_t gpus = *sweep.axis("gpus");
  // Less is better, from the first element on.
  std::vector<std::tuple<bool, double, double, std::size_t>> keys;
  for (std::size_t policy = 0; policy < sweep.policies(); ++policy) {
    const SweepAnswer found = answer(sweep, line, policy, target);
    const SweepPoint& point = sweep.points[found.point];
    const PolicyResult& result = point.comparison.policies[policy];
    const double price = result[point.comparison.priced ? &Metrics::cost : &Metrics::energy_j].mean;
    const double size = *parse_number(point.values[gpus]);
    const double mean = point.mean(policy, target.quantity);
    keys.emplace_back(!found.met, found.met ? size : mean, found.met ? price : size, policy);
  }
  std::ranges::sort(keys);
  std::vector<std::size_t> order;
  for (const auto& key : keys) order.push_back(std::get<3>(key));
  return order;
}

}  // namespace smartmig
