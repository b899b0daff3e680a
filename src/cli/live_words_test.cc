#include "cli/live_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

TEST(LiveWords, PowerIsWrittenInTheUnitThatItNames) {
  EXPECT_EQ(watts_in_words(0), "0 W");
  EXPECT_EQ(watts_in_words(8 * 250), "2000 W");
  EXPECT_EQ(watts_in_words(64 * 250), "16.0 kW");
  EXPECT_EQ(watts_in_words(1000 * 250), "250.0 kW");
  EXPECT_EQ(watts_in_words(1.4e6), "1.40 MW");
  EXPECT_EQ(energy_in_words(3.6e6 * 16), "16.0 kWh");
}

TEST(LiveWords, TimesAreWrittenAsSqueueWritesThem) {
  EXPECT_EQ(clock_in_words(0), "0:00");
  EXPECT_EQ(clock_in_words(59.6), "1:00");
  EXPECT_EQ(clock_in_words(247), "4:07");
  EXPECT_EQ(clock_in_words(3723), "1:02:03");
  EXPECT_EQ(clock_in_words(183845), "2-03:04:05");
  EXPECT_EQ(clock_in_words(-65), "-1:05");
  EXPECT_EQ(clock_in_words(-0.2), "0:00");
}

TEST(LiveWords, TheAlarmOfTheModelledPolicyNamesBothValues) {
  nlohmann::json fleet = {{"policy", "smartmig"}, {"modelled", nullptr}};
  EXPECT_EQ(modelled_alarm(fleet), "");
  fleet["modelled"] = {{"policy", "none/edf"}, {"last_day", nullptr}};
  EXPECT_EQ(modelled_alarm(fleet), "");
  fleet["modelled"]["last_day"] = {{"et", 1.5}, {"own_et", 2.25}, {"modelled_is_better", false}};
  EXPECT_EQ(modelled_alarm(fleet), "");
  fleet["modelled"]["last_day"]["modelled_is_better"] = true;
  EXPECT_EQ(modelled_alarm(fleet),
            "over the last day the modelled policy none/edf was better than smartmig: ET 1.5 "
            "against 2.25");
}

}  // namespace
}  // namespace smartmig
