#include "study/knee.h"

#include <algorithm>
#include <cmath>

namespace smartmig {

std::optional<std::size_t> find_knee(std::span<const PlanePoint> curve) {
  if (curve.size() < 3) return std::nullopt;
  const auto [least_e, most_e] = std::ranges::minmax(curve, {}, &PlanePoint::energy);
  const auto [least_t, most_t] = std::ranges::minmax(curve, {}, &PlanePoint::tardiness);
  const double width = most_e.energy - least_e.energy;
  const double height = most_t.tardiness - least_t.tardiness;
  if (!(width > 0 && height > 0)) return std::nullopt;
  const auto x = [&](const PlanePoint& point) { return point.energy / width; };
  const auto y = [&](const PlanePoint& point) { return point.tardiness / height; };
  const double dx = x(curve.back()) - x(curve.front());
  const double dy = y(curve.back()) - y(curve.front());
  // The chord's normal that points to less of both; one that points to less of one and more of the
  // other tells nothing.
  if (dx * dy >= 0) return std::nullopt;
  const double side = dx > 0 ? 1 : -1;
  std::optional<std::size_t> knee;
  double farthest = 1e-9;  // Of the scaled axes: what lies on the chord is no knee.
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    const double off =
        side * (dy * (x(curve[i]) - x(curve.front())) - dx * (y(curve[i]) - y(curve.front()))) /
        std::hypot(dx, dy);
    if (off <= farthest) continue;
    farthest = off;
    knee = i;
  }
  return knee;
}

}  // namespace smartmig
