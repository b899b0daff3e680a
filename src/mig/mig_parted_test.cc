#include "mig/mig_parted.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(MigParted, PutsGpusOfTheSameSlicesTogether) {
  EXPECT_EQ(mig_parted_yaml({{0, {{"7g.40gb", 1}}},
                             {1, {{"3g.20gb", 1}, {"4g.20gb", 1}}},
                             {2, {{"7g.40gb", 1}}},
                             {3, {}}}),
            "version: v1\nmig-configs:\n  smartmig:\n"
            "    - devices: [3]\n      mig-enabled: true\n      mig-devices: {}\n"
            "    - devices: [1]\n      mig-enabled: true\n      mig-devices:\n"
            "        \"3g.20gb\": 1\n        \"4g.20gb\": 1\n"
            "    - devices: [0, 2]\n      mig-enabled: true\n      mig-devices:\n"
            "        \"7g.40gb\": 1\n");
  EXPECT_EQ(mig_parted_yaml({}), "version: v1\nmig-configs:\n  smartmig: []\n");
}

TEST(MigParted, CountsTheProfilesOfALayout) {
  const Board& board = **BoardTable::shipped().find("A100-40GB");
  const auto set = parse_layout(board, "3-2-1-1");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(slice_counts(board, *set),
            (SliceCounts{{"1g.5gb", 2}, {"2g.10gb", 1}, {"3g.20gb", 1}}));
}

}  // namespace
}  // namespace smartmig
