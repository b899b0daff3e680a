#include "workload/decimal.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"

namespace smartmig {
namespace {

std::string text_of(TimeUs us) {
  std::string out;
  append_seconds(out, us);
  return out;
}

TEST(Decimal, ReadsPlainSecondsExactly) {
  EXPECT_EQ(parse_seconds("0"), 0);
  EXPECT_EQ(parse_seconds("12.5"), 12'500'000);
  EXPECT_EQ(parse_seconds("0.000001"), 1);
  EXPECT_EQ(parse_seconds("007.25"), 7'250'000);
  EXPECT_EQ(parse_seconds("9999999999.999999"), 9'999'999'999'999'999);
  EXPECT_EQ(parse_seconds("10000000000"), 10'000'000'000'000'000);
}

TEST(Decimal, ReadsExponentsAndLongFractionsToTheNearestMicrosecond) {
  EXPECT_EQ(parse_seconds("1e3"), 1'000'000'000);
  EXPECT_EQ(parse_seconds("0.00000051"), 1);
  EXPECT_EQ(parse_seconds("0.00000049"), 0);
  EXPECT_EQ(parse_seconds("1.23456789012345678901234567890"), 1'234'568);
}

TEST(Decimal, RefusesWhatIsNoTimeInRange) {
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "nan", "inf", "0x10", "1,5", "1..5", ".",
                           "1e11", "1e400", "10000000000.000001", "10000000001", "20000000000.5",
                           "99999999999999999", "1-2", "12:30"}) {
    EXPECT_FALSE(parse_seconds(text)) << text;
  }
}

// Below 2^51 us the double nearest to the decimal, times 1e6, is off by less than half a
// microsecond.
TEST(Decimal, AgreesWithTheDoubleNearestToTheDecimal) {
  Random random(1, "decimal");
  for (int i = 0; i < 200'000; ++i) {
    const auto us = static_cast<TimeUs>(random.below(std::uint64_t{1} << (1 + random.below(51))));
    const std::string text = text_of(us);
    const auto number = parse_number(text);
    ASSERT_TRUE(number) << text;
    ASSERT_EQ(parse_seconds(text), to_us(*number)) << text;
  }
}

TEST(Decimal, WritesTheShortestDecimalThatReadsBack) {
  EXPECT_EQ(text_of(0), "0");
  EXPECT_EQ(text_of(1), "0.000001");
  EXPECT_EQ(text_of(1'500'000), "1.5");
  EXPECT_EQ(text_of(20'000'000), "20");
  Random random(2, "decimal");
  for (int i = 0; i < 100'000; ++i) {
    const auto us = static_cast<TimeUs>(random.below(10'000'000'000'000'001));
    ASSERT_EQ(parse_seconds(text_of(us)), us);
  }
}

}  // namespace
}  // namespace smartmig
