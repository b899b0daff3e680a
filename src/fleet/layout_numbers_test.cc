#include "fleet/layout_numbers.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

const Board& board(std::string_view name) { return **BoardTable::shipped().find(name); }

TEST(LayoutNumbers, AreThePapersOnBoardsThatHaveTheirLayouts) {
  for (const char* name : {"A100-40GB", "H100-80GB", "H200-141GB"}) {
    const LayoutNumbers numbers(board(name));
    EXPECT_EQ(numbers.choices(), 12);
    EXPECT_EQ(numbers.size(), 14);
    EXPECT_EQ(layout_name(board(name), numbers.layout(0)), "7");
    EXPECT_EQ(layout_name(board(name), numbers.layout(4)), "3-3");
    EXPECT_EQ(layout_name(board(name), numbers.layout(11)), "1-1-1-1-1-1-1");
  }
}

TEST(LayoutNumbers, AreAllMaximalLayoutsElsewhere) {
  const LayoutNumbers numbers(board("A30"));
  EXPECT_EQ(numbers.choices(), 4);
  EXPECT_EQ(numbers.size(), 4);
  EXPECT_EQ(layout_name(board("A30"), numbers.layout(0)), "4");
}

TEST(LayoutNumbers, DoNotDependOnPlacement) {
  const Board& a100 = board("A100-40GB");
  const LayoutNumbers numbers(a100);
  for (const SlotSet set : legal_sets(a100, base_slots(a100))) {
    const int number = numbers.number_of(set);
    if (number < 0) continue;
    EXPECT_TRUE(same_layout(a100, set, numbers.layout(number)));
  }
  for (const SlotSet set : maximal_sets(a100, base_slots(a100)))
    EXPECT_GE(numbers.number_of(set), 0);
  EXPECT_EQ(numbers.number_of(0), -1);
}

}  // namespace
}  // namespace smartmig
