#include "control/event_pauses.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(EventPauses, AreShortHoweverOftenACallWasRefused) {
  EventPauses pauses;
  EXPECT_EQ(pauses.after_failure(false), milliseconds(200));
  EXPECT_EQ(pauses.after_failure(false), milliseconds(400));
  for (int i = 0; i < 1000; ++i) EXPECT_LE(pauses.after_failure(false), seconds(1));
}

TEST(EventPauses, GrowToAMinuteWhileCallsHang) {
  EventPauses pauses;
  auto before = pauses.after_failure(true);
  for (int i = 0; i < 100; ++i) {
    const auto pause = pauses.after_failure(true);
    EXPECT_EQ(pause, std::min<std::chrono::nanoseconds>(2 * before, seconds(60)));
    before = pause;
  }
  EXPECT_EQ(before, seconds(60));
  EXPECT_EQ(pauses.after_failure(false), seconds(1)) << "the fleet refuses calls now";
}

TEST(EventPauses, BeginAgainAfterAnAnswer) {
  EventPauses pauses;
  for (int i = 0; i < 10; ++i) pauses.after_failure(true);
  pauses.answered();
  EXPECT_EQ(pauses.after_failure(true), milliseconds(200));
}

}  // namespace
}  // namespace smartmig
