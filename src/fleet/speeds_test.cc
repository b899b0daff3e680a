#include "fleet/speeds.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// The full time of a job of 60 s on every size, in seconds, by kind.
std::vector<double> times_on(const Fleet& fleet) {
  Job job;
  job.time_us.fill(60'000'000);
  std::vector<double> times;
  for (KindIndex kind = 0; kind < fleet.kinds().size(); ++kind) {
    if (fleet.kinds()[kind].base) times.push_back(fleet.full_us(job, kind) / 1e6);
  }
  return times;
}

Fleet made(std::string_view fleet, const std::string& trace_board,
           const std::vector<std::string>& factors) {
  return fleet_with_speeds(*Fleet::parse(fleet), trace_board, factors).value();
}

TEST(Speeds, AnotherBoardDividesTheTimesByItsFactor) {
  const Fleet fleet = *Fleet::parse("A100-40GB+H100-80GB");
  const double factor = fleet.board(1).speed.factor[0];
  EXPECT_GT(factor, 2);
  const std::vector<double> times = times_on(fleet);
  ASSERT_EQ(times.size(), 10u);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_DOUBLE_EQ(times[k], 60);
    EXPECT_DOUBLE_EQ(times[5 + k], 60 / factor);
  }
}

TEST(Speeds, AGivenFactorIsThatOfAllSizesOfTheBoard) {
  for (const double time : times_on(made("2xH100-80GB", "", {"H100-80GB=4"})))
    EXPECT_DOUBLE_EQ(time, 15);
  const std::vector<double> mixed = times_on(made("A100-40GB+A30", "", {"A30=0.5"}));
  EXPECT_DOUBLE_EQ(mixed.front(), 60);
  EXPECT_DOUBLE_EQ(mixed.back(), 120);
}

TEST(Speeds, TimesTakenOnAnotherBoardStayAsTheyAreThere) {
  const double factor = Fleet::parse("H100-80GB")->board(0).speed.factor[0];
  for (const double time : times_on(made("H100-80GB", "H100-80GB", {}))) EXPECT_DOUBLE_EQ(time, 60);
  for (const double time : times_on(made("A100-40GB", "H100-80GB", {})))
    EXPECT_NEAR(time, 60 * factor, 1e-9);
}

TEST(Speeds, KindsOfTheSameSpeedAreTwinsAfterwardsToo) {
  const Fleet apart = *Fleet::parse("A100-40GB+H100-80GB");
  EXPECT_EQ(std::popcount(apart.twins(0)), 2) << "the double-memory profile of its own board";
  EXPECT_EQ(std::popcount(made("A100-40GB+H100-80GB", "", {"H100-80GB=1"}).twins(0)), 4);
}

TEST(Speeds, AreSaidWhereverABoardIsNotThatOfTheTimes) {
  EXPECT_TRUE(speed_assumptions(*Fleet::parse("8xA100-40GB")).empty());
  const auto h100 = speed_assumptions(*Fleet::parse("A100-40GB+H100-80GB"));
  ASSERT_EQ(h100.size(), 1u);
  EXPECT_TRUE(h100[0].starts_with(
      "H100-80GB: times of A100-40GB slices divided by 2.2 (assumed: by the datasheets"))
      << h100[0];
  EXPECT_EQ(speed_assumptions(made("A30", "", {"A30=0.9"})),
            (std::vector<std::string>{
                "A30: times of A100-40GB slices divided by 0.9 (given by --speed-factor)"}));
  const auto moved = speed_assumptions(made("A100-40GB+H100-80GB", "H100-80GB", {}));
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_TRUE(moved[0].starts_with(
      "A100-40GB: times of H100-80GB slices divided by 0.455 (assumed: the ratio of two factors "
      "against an A100-40GB: 1 and 2.2; H100-80GB: by the datasheets"))
      << moved[0];
  EXPECT_EQ(moved[1], "H100-80GB: the board that the trace's times are for");
}

}  // namespace
}  // namespace smartmig
