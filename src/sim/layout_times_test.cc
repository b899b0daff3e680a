#include "sim/layout_times.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(LayoutTimes, AreSharesOfTheTimeOfAllGpusByName) {
  const Fleet fleet = Fleet::parse("2xA100-40GB").value();
  const Board& board = fleet.board(0);
  const auto slots = [&](const char* name) { return parse_layout(board, name).value(); };
  LayoutTimes times(fleet);
  times.change(10, 0, slots("7"));
  times.change(10, 1, slots("4-3"));
  times.change(40, 0, slots("4-3"));
  times.change(40, 1, slots("4-3"));  // Again: nothing is lost or counted twice.
  const auto percent = times.percent(110);
  ASSERT_EQ(percent.size(), 2u);
  EXPECT_DOUBLE_EQ(percent.at("7"), 100 * 30. / 200);
  EXPECT_DOUBLE_EQ(percent.at("4-3"), 100 * 170. / 200);
}

TEST(LayoutTimes, PlacementsOfOneMultisetAreOneLayout) {
  const Fleet fleet = Fleet::parse("1xA100-40GB").value();
  const Board& board = fleet.board(0);
  const SlotSet canonical = parse_layout(board, "2-2-1-1-1").value();
  SlotSet other = 0;
  for (const SlotSet set : maximal_sets(board, base_slots(board))) {
    if (set != canonical && same_layout(board, set, canonical)) other = set;
  }
  ASSERT_NE(other, 0u);
  LayoutTimes times(fleet);
  times.change(0, 0, canonical);
  times.change(5, 0, other);
  EXPECT_EQ(times.percent(20), (std::map<std::string, double>{{"2-2-1-1-1", 100}}));
}

}  // namespace
}  // namespace smartmig
