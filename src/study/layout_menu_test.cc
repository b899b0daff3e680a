#include "study/layout_menu.h"

#include <gtest/gtest.h>

#include <set>

namespace smartmig {
namespace {

TEST(LayoutMenu, HasTheMaximalLayoutsLargestSlicesFirst) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB+1xA30");
  const LayoutMenu menu(fleet);
  EXPECT_EQ(menu.size(0), 14u);
  EXPECT_EQ(menu.size(1), 4u);
  EXPECT_EQ(menu.count(0), 2u);
  EXPECT_EQ(menu.name(menu.all_alike(0)), "7*2,4");
  EXPECT_EQ(menu.name(menu.all_alike(13)), "1-1-1-1-1-1-1*2,1-1-1-1");
}

TEST(LayoutMenu, OneMultisetIsOneChoiceHoweverItIsWritten) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  LayoutMenu menu(fleet);
  const auto a = menu.parse("3-2-2,7,4-3*2");
  const auto b = menu.parse("4-3,3-2-2,4-3,7");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
  EXPECT_EQ(menu.name(*a), "7,4-3*2,3-2-2");
}

TEST(LayoutMenu, BoardsKeepTheirGpusInAMixedFleet) {
  // The boards alternate: each board's layouts are sorted among its own GPUs only.
  const Fleet fleet = *Fleet::parse("1xA100-40GB+1xA30+1xA100-40GB");
  LayoutMenu menu(fleet);
  EXPECT_EQ(menu.name(*menu.parse("4-3,2-2,7")), "7,2-2,4-3");
}

TEST(LayoutMenu, TakesInALayoutThatIsNotMaximal) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  LayoutMenu menu(fleet);
  const auto choice = menu.parse("4,7");
  ASSERT_TRUE(choice);
  EXPECT_EQ(menu.size(0), 15u);
  EXPECT_EQ(menu.name(*choice), "7,4");
}

TEST(LayoutMenu, MovesGpusOfOneBoardFromOneLayoutToAnother) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  LayoutMenu menu(fleet);
  const LayoutChoice choice = *menu.parse("7*3,4-3");
  const LayoutIndex seven = choice[0];
  const LayoutIndex four_three = choice[3];
  EXPECT_EQ(menu.uses(choice, 0, seven), 3u);
  EXPECT_EQ(menu.name(menu.moved(choice, 0, seven, four_three, 1)), "7*2,4-3*2");
  EXPECT_EQ(menu.name(menu.moved(choice, 0, seven, four_three, 9)), "4-3*4");
}

TEST(LayoutMenu, RefusesAListThatDoesNotFitTheFleet) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  LayoutMenu menu(fleet);
  EXPECT_FALSE(menu.parse("7"));
  EXPECT_FALSE(menu.parse("7,3-3-1"));
}

}  // namespace
}  // namespace smartmig
