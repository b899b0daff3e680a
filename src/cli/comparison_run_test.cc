#include "cli/comparison_run.h"

#include <gtest/gtest.h>

#include "study/published_items.h"

namespace smartmig {
namespace {

TEST(ComparisonRun, WordsAreThoseOfTheCommandLine) {
  const auto prepared = prepare_words(
      "--policy none/edf --policy static:4-3*2/cedf --fleet 2xA100-40GB --days 3 --rate 2 --bound",
      1);
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(prepared->specs, (std::vector<std::string>{"none/edf", "static:4-3*2/cedf"}));
  EXPECT_EQ(prepared->days.count, 3u);
  EXPECT_EQ(prepared->setup->fleet.gpu_count(), 2u);
  EXPECT_TRUE(prepared->bound);
  EXPECT_FALSE(prepare_words("--polcy none/edf", 1));
  EXPECT_FALSE(prepare_words("--policy none/elf", 1));
}

TEST(ComparisonRun, EveryShippedPublishedRunCanBeTyped) {
  int runs = 0;
  for (const PublishedItem& item : published_items()) {
    for (const PublishedRun& run : item.runs) {
      if (run.kind != PublishedKind::kCompare) continue;
      const auto prepared = prepare_words(run.args + " --days 1", 1);
      EXPECT_TRUE(prepared) << item.name << ": " << prepared.error().message;
      ++runs;
    }
  }
  EXPECT_GT(runs, 50);
}

}  // namespace
}  // namespace smartmig
