#include "policy/registry.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

const Fleet& two_gpus() {
  static const Fleet fleet = *Fleet::parse("2xA100-40GB");
  return fleet;
}

std::string error_of(std::string_view spec) {
  const auto policy = make_policy(spec, two_gpus());
  return policy ? "no error" : policy.error().message;
}

TEST(Registry, MakesEveryPlacerWithEveryPartitioner) {
  const std::vector<std::string> specs = {"none", "static:7,4-3", "day-night:8=7*2+20:30=4-3*2",
                                          "count"};
  ASSERT_EQ(specs.size(), partitioner_names().size())
      << "a partitioner that this test does not know";
  for (std::size_t p = 0; p < specs.size(); ++p) {
    EXPECT_TRUE(specs[p].starts_with(partitioner_names()[p]));
    for (const std::string& placer : placer_names()) {
      const auto policy = make_policy(specs[p] + "/" + placer, two_gpus());
      ASSERT_TRUE(policy) << policy.error().message;
      EXPECT_EQ(policy->name, specs[p] + "/" + placer);
      EXPECT_TRUE(policy->partitioner && policy->placer);
    }
  }
  for (const std::string& joint : joint_names()) {
    const auto policy = make_policy(joint == "on-demand" ? "on-demand:on-time" : joint, two_gpus());
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_TRUE(policy->partitioner && !policy->placer);
  }
}

TEST(Registry, SuggestsTheNearestName) {
  EXPECT_EQ(error_of("none/ceddf"), "unknown placer 'ceddf'; did you mean 'cedf'?");
  EXPECT_EQ(error_of("none/slowest-ontime"),
            "unknown placer 'slowest-ontime'; did you mean 'slowest-on-time'?");
  EXPECT_EQ(error_of("cout/edf"), "unknown partitioner 'cout'; did you mean 'count'?");
  EXPECT_EQ(error_of("greddy"), "unknown policy 'greddy'; did you mean 'greedy'?");
  EXPECT_EQ(
      error_of("zzz/edf"),
      "unknown partitioner 'zzz'; known: none, static, day-night, count, mean-field, one-gpu");
}

TEST(Registry, AsksForAMissingPlacerOrLayouts) {
  EXPECT_EQ(error_of("count"), "policy 'count' names no placer, expected count/PLACER");
  EXPECT_EQ(error_of("static:7,7"),
            "policy 'static:7,7' names no placer, expected static:7,7/PLACER");
  EXPECT_EQ(error_of("static/edf"), "policy static: expected layouts, as in static:4-2-1*8/cedf");
  EXPECT_EQ(error_of("none:7/edf"), "policy none: takes no argument, found '7'");
  EXPECT_EQ(error_of("count:3/edf"), "policy count: takes no argument, found '3'");
  EXPECT_EQ(error_of("greedy:3"), "policy greedy: takes no argument, found '3'");
  EXPECT_EQ(error_of("prices:"), "policy prices: expected a file after the ':'");
  EXPECT_EQ(error_of("mean-field:/cedf"), "policy mean-field: expected a file after the ':'");
  EXPECT_EQ(error_of("static:7*2/learned:"), "policy learned: expected a file after the ':'");
  EXPECT_NE(error_of("prices:/no/such/file").find("/no/such/file"), std::string::npos);
  EXPECT_EQ(error_of("greedy/cedf"),
            "unknown partitioner 'greedy'; known: none, static, day-night, count, mean-field, "
            "one-gpu");
  EXPECT_NE(error_of("").find("unknown policy ''"), std::string::npos);
  EXPECT_NE(error_of("none/").find("unknown placer ''"), std::string::npos);
  EXPECT_NE(error_of("static:7/edf").find("1 given for 2 GPUs"), std::string::npos);
}

TEST(Registry, AsksForARequestAndForSecondsOfProfiling) {
  EXPECT_EQ(error_of("on-demand"),
            "policy on-demand: expected a request, as in on-demand:on-time or on-demand:asked");
  EXPECT_EQ(error_of("miso:30"), "no error");
  EXPECT_EQ(error_of("miso:-1"),
            "policy miso: found '-1', expected seconds of profiling from 0 to 86400");
  EXPECT_EQ(error_of("miso:long"),
            "policy miso: found 'long', expected seconds of profiling from 0 to 86400");
}

TEST(Registry, SaysWhatIsWrongWithADayAndNight) {
  EXPECT_EQ(error_of("day-night/edf"),
            "policy day-night: found '', expected HOUR=LAYOUTS+HOUR=LAYOUTS");
  EXPECT_EQ(error_of("day-night:8=7*2/edf"),
            "policy day-night: found '8=7*2', expected HOUR=LAYOUTS+HOUR=LAYOUTS");
  for (const char* time : {"24", "-1", "8:60", "8:", "noon", "8:15:00", ""}) {
    EXPECT_EQ(error_of(fmt::format("day-night:{}=7*2+20=4-3*2/edf", time)),
              fmt::format("policy day-night: found '{}=7*2', expected a time of day such as 8 or "
                          "20:30, then =LAYOUTS",
                          time));
  }
  EXPECT_EQ(
      error_of("day-night:8=7*2+20/edf"),
      "policy day-night: found '20', expected a time of day such as 8 or 20:30, then =LAYOUTS");
  EXPECT_EQ(error_of("day-night:8=7*2+8:00=4-3*2/edf"),
            "policy day-night: both lists start at the same time of day");
  EXPECT_NE(error_of("day-night:8=7*2+20=4-3/edf").find("1 given for 2 GPUs"), std::string::npos);
}

TEST(Registry, DescribesEveryName) {
  const std::string text = describe_policies();
  for (const auto& names : {partitioner_names(), placer_names(), joint_names()}) {
    for (const std::string& name : names)
      EXPECT_NE(text.find("  " + name + " "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace smartmig
