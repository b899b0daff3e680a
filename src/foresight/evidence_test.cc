#include "foresight/evidence.h"

#include <gtest/gtest.h>

#include <array>

namespace smartmig {
namespace {

constexpr double kNotRun = Evidence::kNotRun;
constexpr double kForEver = Evidence::kForEver;

Evidence after_looks(int looks, int futures, std::array<double, 3> costs, double kept = 0.8) {
  Evidence evidence;
  evidence.clear(costs.size());
  for (int look = 0; look < looks; ++look) {
    evidence.begin_look(kept);
    for (int future = 0; future < futures; ++future) evidence.add(costs);
  }
  return evidence;
}

TEST(Evidence, KnowsNothingBeforeTheFirstLook) {
  const Evidence evidence = after_looks(0, 0, {1, 1, 1});
  EXPECT_EQ(evidence.more(0, 1).futures, 0);
  EXPECT_EQ(evidence.more(0, 1).mean, 0);
  EXPECT_FALSE(evidence.rests(0));
}

TEST(Evidence, TellsDifferencesAsPartsOfTheLeastCost) {
  const Evidence evidence = after_looks(1, 4, {30, 20, 24});
  EXPECT_NEAR(evidence.more(0, 1).mean, 0.5, 1e-12);
  EXPECT_NEAR(evidence.more(1, 2).mean, -0.2, 1e-12);
  EXPECT_NEAR(evidence.more(0, 1).futures, 4, 1e-12);
}

// A long future, on which everything costs more, does not outweigh an earlier look.
TEST(Evidence, ComparesLooksByTheirOwnLeastCosts) {
  Evidence evidence;
  evidence.clear(2);
  evidence.begin_look(1);
  evidence.add(std::array{10., 11.});
  evidence.begin_look(1);
  evidence.add(std::array{2000., 1800.});
  const auto more = evidence.more(0, 1);
  EXPECT_NEAR(more.mean, (-0.1 + 200. / 1800) / 2, 1e-12);
  EXPECT_NEAR(more.futures, 2, 1e-12);
}

TEST(Evidence, CountsEarlierLooksLessAndLess) {
  Evidence evidence = after_looks(20, 3, {12, 10, 10}, 0.5);
  EXPECT_NEAR(evidence.more(0, 1).mean, 0.2, 1e-12);
  evidence.begin_look(0.5);
  for (int future = 0; future < 3; ++future) evidence.add(std::array{10., 10., 12.});
  EXPECT_NEAR(evidence.more(0, 1).mean, 0.1, 0.001);
  EXPECT_NEAR(evidence.more(2, 1).mean, 0.1, 0.001);
}

TEST(Evidence, IsSurerTheMoreFuturesItHas) {
  Evidence evidence;
  evidence.clear(2);
  evidence.begin_look(1);
  double before = 1e9;
  for (int future = 0; future < 24; ++future) {
    evidence.add(std::array{10., future % 2 == 0 ? 11. : 13.});
    if (future % 4 != 3) continue;
    EXPECT_LT(evidence.more(1, 0).error, before);
    before = evidence.more(1, 0).error;
  }
  EXPECT_LT(before, 0.2 * evidence.more(1, 0).mean);
}

// A single future tells little, whatever it says.
TEST(Evidence, IsNotSureOfOneFuture) {
  const Evidence evidence = after_looks(1, 1, {10, 10.9, 10.9});
  EXPECT_GT(evidence.more(1, 0).error, evidence.more(1, 0).mean);
}

TEST(Evidence, ComparesOnFuturesThatBothHaveRun) {
  Evidence evidence;
  evidence.clear(2);
  evidence.begin_look(1);
  evidence.add(std::array{10., kNotRun});
  EXPECT_EQ(evidence.more(0, 1).futures, 0);
  evidence.add(std::array{10., 15.});
  EXPECT_NEAR(evidence.more(1, 0).mean, 0.5, 1e-12);
  EXPECT_NEAR(evidence.more(1, 0).futures, 1, 1e-12);
}

// Those that leave a job for ever cost several times the least; where all do nothing is learned.
TEST(Evidence, TakesAJobLeftForEverAsVeryBad) {
  Evidence evidence;
  evidence.clear(2);
  evidence.begin_look(1);
  evidence.add(std::array{kForEver, kForEver});
  EXPECT_EQ(evidence.more(0, 1).futures, 0);
  evidence.add(std::array{kForEver, 10.});
  EXPECT_GT(evidence.more(0, 1).mean, 1);
}

TEST(Evidence, LeavesALoserOutOfTwiceAsManyLooksEachTime) {
  Evidence evidence;
  evidence.clear(1);
  const auto looks_left_out = [&] {
    int looks = 0;
    for (evidence.begin_look(1); evidence.rests(0); evidence.begin_look(1)) ++looks;
    return looks;
  };
  evidence.begin_look(1);
  std::array<int, 5> out{};
  for (int& looks : out) {
    evidence.send_to_rest(0, 1, 6);
    looks = looks_left_out();
  }
  EXPECT_EQ(out, (std::array<int, 5>{1, 2, 4, 6, 6}));
  evidence.forgive(0);
  evidence.send_to_rest(0, 1, 6);
  EXPECT_EQ(looks_left_out(), 1);
}

}  // namespace
}  // namespace smartmig
