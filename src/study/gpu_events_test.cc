#include "study/gpu_events.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

const Fleet& gpus_of_events() {
  static const Fleet fleet = *Fleet::parse("2xA100-40GB");
  return fleet;
}

std::string events_error_of(std::string_view text) {
  const auto events = parse_gpu_events(text, "e.csv", gpus_of_events());
  return events ? "" : events.error().message;
}

TEST(GpuEvents, AreReadAndPutInOrderOfTime) {
  const auto events =
      parse_gpu_events("gpu,event,time_s,why\n0,return,20.5,\n1,fail,3,\"fan, hot\"\n0,fail,3,\n",
                       "e.csv", gpus_of_events());
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].at_us, 3 * kSecondUs);
  EXPECT_EQ((*events)[0].gpu, 1u);
  EXPECT_TRUE((*events)[0].fail);
  EXPECT_EQ((*events)[1].gpu, 0u);
  EXPECT_EQ((*events)[2].at_us, 20'500'000);
  EXPECT_FALSE((*events)[2].fail);
}

TEST(GpuEvents, AFileWithoutRowsHasNoEvents) {
  EXPECT_TRUE(parse_gpu_events("time_s,gpu,event\n", "e.csv", gpus_of_events())->empty());
}

TEST(GpuEvents, RefusesWhatItDoesNotUnderstandAndSaysWhere) {
  EXPECT_EQ(events_error_of("time_s,gpu,event\n1,0,fail\n2,2,fail\n"),
            "e.csv:3: gpu: found '2', expected a GPU from 0 to 1");
  EXPECT_EQ(events_error_of("time_s,gpu,event\n1,-1,fail\n"),
            "e.csv:2: gpu: found '-1', expected a GPU from 0 to 1");
  EXPECT_EQ(events_error_of("time_s,gpu,event\n1,0.5,fail\n"),
            "e.csv:2: gpu: found '0.5', expected a GPU from 0 to 1");
  EXPECT_EQ(events_error_of("time_s,gpu,event\n1,0,explode\n"),
            "e.csv:2: event: found 'explode', expected fail or return");
  EXPECT_NE(events_error_of("time_s,gpu,event\nnan,0,fail\n").find("e.csv:2: time_s"),
            std::string::npos);
  EXPECT_NE(events_error_of("time_s,gpu,event\n-1,0,fail\n").find("e.csv:2: time_s"),
            std::string::npos);
  EXPECT_NE(events_error_of("time_s,event\n1,fail\n").find("gpu"), std::string::npos);
  EXPECT_NE(events_error_of(""), "");
  EXPECT_NE(events_error_of("time_s,gpu,event\n1,0\n"), "");
}

TEST(GpuEvents, RefusesAGpuThatFailsTwiceOrReturnsFromNowhere) {
  EXPECT_EQ(events_error_of("time_s,gpu,event\n5,0,fail\n1,0,fail\n"),
            "e.csv:2: event: GPU 0 fails at 5 s, but it is already down then");
  EXPECT_EQ(events_error_of("time_s,gpu,event\n5,1,return\n"),
            "e.csv:2: event: GPU 1 returns at 5 s, but it is up then");
}

}  // namespace
}  // namespace smartmig
