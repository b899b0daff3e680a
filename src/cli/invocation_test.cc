#include "cli/invocation.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(Invocation, ShowsTheCommandAsAShellTakesIt) {
  EXPECT_EQ(
      shown_command({{"compare", "--policy", "static:7,4-3*4/cedf", "--jobs", "it's.csv"}, ""}),
      "smartmig compare --policy 'static:7,4-3*4/cedf' --jobs 'it'\\''s.csv'");
}

TEST(Invocation, LeavesOutWhatCannotChangeAReport) {
  EXPECT_EQ(shown_command(
                {{"compare", "--threads", "2", "--json", "--out", "/tmp/a", "--seed", "3"}, ""}),
            "smartmig compare --out DIR --seed 3");
  EXPECT_EQ(shown_command({{"compare", "--threads=2", "--out=a b", "--seed", "3"}, ""}),
            "smartmig compare --out DIR --seed 3");
}

}  // namespace
}  // namespace smartmig
