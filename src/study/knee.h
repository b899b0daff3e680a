// Where a curve of energy against tardiness bends: the size after which more GPUs buy little.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace smartmig {

// Less is better of both.
struct PlanePoint {
  double energy = 0;
  double tardiness = 0;
};

// The point farthest from the chord between the first and the last, on the side where both are
// less, after both axes are scaled to the extent of the curve (the rule of Satopaa et al. 2011
// without smoothing). Nothing for fewer than three points, for a curve without extent in an axis,
// and where no point is on that side. Ties go to the first.
std::optional<std::size_t> find_knee(std::span<const PlanePoint> curve);

}  // namespace smartmig
