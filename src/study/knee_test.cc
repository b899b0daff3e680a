#include "study/knee.h"

#include <gtest/gtest.h>

#include <vector>

namespace smartmig {
namespace {

TEST(Knee, IsThePointFarthestBelowTheChord) {
  const std::vector<PlanePoint> curve = {{1, 10}, {2, 4}, {3, 1}, {6, .5}, {9, 0}};
  EXPECT_EQ(find_knee(curve), 2u);
}

TEST(Knee, DoesNotDependOnTheUnits) {
  std::vector<PlanePoint> curve = {{1, 10}, {2, 4}, {3, 1}, {6, .5}, {9, 0}};
  for (PlanePoint& point : curve) point = {1e6 * point.energy, 1e-3 * point.tardiness};
  EXPECT_EQ(find_knee(curve), 2u);
}

TEST(Knee, DoesNotDependOnTheDirectionOfTheCurve) {
  const std::vector<PlanePoint> curve = {{9, 0}, {6, .5}, {3, 1}, {2, 4}, {1, 10}};
  EXPECT_EQ(find_knee(curve), 2u);
}

TEST(Knee, IsMissingWhereTheCurveHasNone) {
  EXPECT_EQ(find_knee(std::vector<PlanePoint>{{1, 2}, {2, 1}}), std::nullopt);
  EXPECT_EQ(find_knee(std::vector<PlanePoint>{{1, 3}, {2, 2}, {3, 1}}), std::nullopt);  // A line.
  EXPECT_EQ(find_knee(std::vector<PlanePoint>{{1, 0}, {2, 0}, {3, 0}}), std::nullopt);
  EXPECT_EQ(find_knee(std::vector<PlanePoint>{{1, 3}, {2, 2.9}, {3, 0}}), std::nullopt);  // Above.
  EXPECT_EQ(find_knee(std::vector<PlanePoint>{{1, 1}, {2, 2}, {3, 9}}), std::nullopt);
}

}  // namespace
}  // namespace smartmig
