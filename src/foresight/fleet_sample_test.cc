#include "foresight/fleet_sample.h"

#include <gtest/gtest.h>

#include <set>

namespace smartmig {
namespace {

TEST(FleetSample, IsTheWholeOfASmallFleet) {
  const Fleet fleet = *Fleet::parse("3xA100-40GB+2xA30");
  FleetSample sample(fleet, 8);
  Random random(1, "sample");
  sample.draw(random);
  EXPECT_EQ(sample.share(), 1);
  for (GpuIndex gpu = 0; gpu < 5; ++gpu) {
    EXPECT_EQ(sample.in_sample(gpu), gpu);
    EXPECT_EQ(sample.in_fleet(gpu), gpu);
  }
}

TEST(FleetSample, HasEveryBoardInProportion) {
  const Fleet fleet = *Fleet::parse("300xA100-40GB+100xA30+2xH100-80GB");
  const FleetSample sample(fleet, 32);
  EXPECT_EQ(sample.fleet().name(), "24xA100-40GB+8xA30+2xH100-80GB");
  EXPECT_EQ(sample.share(), (24 * 7 + 8 * 4 + 2 * 7) / (300. * 7 + 100 * 4 + 2 * 7));
}

TEST(FleetSample, DrawsOtherGpusEachTimeInWholeGroups) {
  const Fleet fleet = *Fleet::parse("90xA100-40GB+410xA30");
  FleetSample sample(fleet, 32);
  Random random(1, "sample");
  std::set<GpuIndex> seen;
  for (int draw = 0; draw < 200; ++draw) {
    sample.draw(random);
    std::size_t found = 0;
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      const GpuIndex number = sample.in_sample(gpu);
      if (number == kNone) continue;
      ++found;
      seen.insert(gpu);
      EXPECT_EQ(sample.in_fleet(number), gpu);
      EXPECT_EQ(sample.fleet().board(number).name, fleet.board(gpu).name);
      // Its place among four neighbours of its board is the same in both.
      const GpuIndex place = gpu < 90 ? gpu : gpu - 90;
      const GpuIndex first = sample.fleet().board_index(number) == 0 ? 0 : 8;
      EXPECT_EQ(place % 4, (number - first) % 4);
    }
    EXPECT_EQ(found, sample.fleet().gpu_count());
  }
  EXPECT_GT(seen.size(), 480u) << "all but groups that are not whole come up";
}

}  // namespace
}  // namespace smartmig
