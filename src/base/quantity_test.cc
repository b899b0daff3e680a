#include "base/quantity.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(Duration, IsReadInEveryFormThatPeopleWrite) {
  const std::pair<const char*, double> known[] = {{"0", 0},
                                                  {"90", 90},
                                                  {"0.5", 0.5},
                                                  {"1e3", 1000},
                                                  {"1e-3", 0.001},
                                                  {"90s", 90},
                                                  {"10m", 600},
                                                  {"2h", 7200},
                                                  {"1.5h", 5400},
                                                  {"1h30m", 5400},
                                                  {"1d", 86400},
                                                  {"1d2h3m4s", 93784},
                                                  {"1-02:00:00", 93600},
                                                  {"1-02", 93600},
                                                  {"1-02:30", 95400},
                                                  {"02:00:00", 7200},
                                                  {"100:00:00", 360000},
                                                  {"10:30", 630},
                                                  {"0-00:00:01", 1}};
  for (const auto& [text, seconds] : known) {
    const auto read = parse_duration_s(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_DOUBLE_EQ(*read, seconds) << text;
  }
}

TEST(Duration, RefusesWhatCouldMeanSomethingElse) {
  for (const char* text : {"",        "s",      "-5",         "-5s",   "5x",
                           "5 s",     " 5",     "5s ",        "1m1h",  "1h1h",
                           "1h30",    "1.2.3h", "nan",        "inf",   "0x10",
                           "1-",      "-1:00",  "1-24:00:00", "1:60",  "1:2:3:4",
                           "1:00:60", "1-2-3",  "1e300",      "1-1e3", "99999999999999999999",
                           "1:",      ":1",     "5min",       "+5"}) {
    const auto read = parse_duration_s(text);
    EXPECT_FALSE(read.has_value()) << text << " was read as " << read.value_or(0);
  }
  EXPECT_EQ(parse_duration_s("5x").error().message,
            "found '5x', expected a length of time such as 90s, 10m, 2h, 1-02:00:00 or seconds");
}

TEST(Size, IsReadInMibOrWithAUnit) {
  const std::pair<const char*, std::int64_t> known[] = {
      {"0", 0},       {"8192", 8192}, {"512M", 512},   {"8G", 8192}, {"8GB", 8192},
      {"8GiB", 8192}, {"1.5G", 1536}, {"2T", 2097152}, {"1024K", 1}, {"1K", 1}};
  for (const auto& [text, mib] : known) {
    const auto read = parse_size_mib(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(*read, mib) << text;
  }
}

TEST(Size, RefusesWhatIsNoSize) {
  for (const char* text : {"", "G", "-1", "8g", "8X", "8GBB", "8 G", "1e3", "nan", "1.2.3", "8MB8",
                           "9999999999T", "8b"}) {
    const auto read = parse_size_mib(text);
    EXPECT_FALSE(read.has_value()) << text;
  }
}

}  // namespace
}  // namespace smartmig
