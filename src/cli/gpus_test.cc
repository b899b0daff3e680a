#include <gtest/gtest.h>

#include "cli/gpus_view.h"

namespace smartmig {
namespace {

const Board& a100() { return **BoardTable::shipped().find("A100-40GB"); }

TEST(Gpus, PicturesShowEveryMemorySlice) {
  EXPECT_EQ(picture(a100(), 0), "|  |  |  |  |  |  |  |  |");
  EXPECT_EQ(picture(a100(), *parse_layout(a100(), "4-2-1")), "|4----------|2----|1-|  |");
  EXPECT_EQ(picture(a100(), *parse_layout(a100(), "7")), "|7----------------------|");
  EXPECT_EQ(picture(a100(), *parse_layout(a100(), "4-1g.10gb-1g.5gb+me")),
            "|4----------|1d---|1m|  |");
}

TEST(Gpus, PlacementsOfTheLayoutsAddUpToTheMaximalOnes) {
  for (const Board& board : BoardTable::shipped().boards()) {
    for (bool all_profiles : {false, true}) {
      const BoardView view = view_board(board, all_profiles);
      std::size_t sum = 0;
      for (const LayoutRow& row : view.layouts) sum += static_cast<std::size_t>(row.placements);
      EXPECT_EQ(sum, view.maximal_placements) << board.name;
    }
  }
}

TEST(Gpus, JsonHasTheCountsAsNumbers) {
  const auto json = board_json(view_board(a100(), false));
  EXPECT_EQ(json["legal_sets"], 298);
  EXPECT_EQ(json["maximal_placements"], 19);
  EXPECT_EQ(json["layouts"], 14);
  EXPECT_EQ(json["layout_list"].size(), 14u);
  EXPECT_EQ(json["power"]["busy_w"][7], 248.5);
  EXPECT_EQ(json["times"]["create_s"]["7"], 0.24);
}

TEST(Gpus, AChangeKeepsWhatItCanAndCostsItsSteps) {
  // 3-1-1-1 begins as 3g at 0 and 1g at 4, 5, 6; 4-1-1-1 keeps the three 1g.
  const ChangeView change =
      view_change(a100(), *parse_layout(a100(), "3-1-1-1"), *parse_layout(a100(), "4-1-1-1"));
  const auto json = change_json(a100(), change);
  EXPECT_EQ(json["survivors"].size(), 3u);
  ASSERT_EQ(json["steps"].size(), 2u);
  EXPECT_EQ(json["steps"][0]["step"], "destroy");
  EXPECT_EQ(json["steps"][1]["profile"], "4g.20gb");
  EXPECT_EQ(json["seconds"], 0.42);  // .21 s to destroy a 3g and .21 s to create a 4g.
}

}  // namespace
}  // namespace smartmig
