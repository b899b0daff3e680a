#include "control/job_fit.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

Job sized(std::int32_t memory_mib, std::initializer_list<int> sizes) {
  Job job;
  job.memory_mib = memory_mib;
  for (std::size_t size = 0; size < kSizeCount; ++size) {
    for (const int wanted : sizes) {
      if (kSizes[size] == wanted) job.time_us[size] = kSecondUs;
    }
  }
  return job;
}

TEST(JobFit, TakesWhatSomeSliceOfSomeLayoutCouldRun) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  EXPECT_TRUE(check_fits(sized(0, {1, 2, 3, 4, 7}), fleet).has_value());
  EXPECT_TRUE(check_fits(sized(30'000, {1, 7}), fleet).has_value());
}

TEST(JobFit, RefusesMoreMemoryThanAnySliceHas) {
  const auto fits = check_fits(sized(100'000, {1, 2, 3, 4, 7}), *Fleet::parse("2xA100-40GB"));
  ASSERT_FALSE(fits.has_value());
  EXPECT_EQ(fits.error().status, 400);
  EXPECT_EQ(fits.error().field, "memory_mib");
  EXPECT_NE(fits.error().error.find("needs 100000 MiB, and the largest slice has"),
            std::string::npos)
      << fits.error().error;
  EXPECT_NE(fits.error().error.find("7g.40gb of A100-40GB"), std::string::npos);
}

TEST(JobFit, RefusesMemoryThatTheProfilesSlicesDoNotHave) {
  const auto fits = check_fits(sized(30'000, {1, 2}), *Fleet::parse("2xA100-40GB"));
  ASSERT_FALSE(fits.has_value());
  EXPECT_EQ(fits.error().field, "memory_mib");
  EXPECT_NE(fits.error().error.find("the largest slice that its profile runs on has"),
            std::string::npos)
      << fits.error().error;
}

TEST(JobFit, RefusesAProfileWithoutASpeedOnAnySlice) {
  const auto fits = check_fits(sized(0, {7}), *Fleet::parse("2xA30"));
  ASSERT_FALSE(fits.has_value());
  EXPECT_EQ(fits.error().field, "profile");
  EXPECT_NE(fits.error().error.find("speeds for 7g, and the fleet's slices are 1g, 2g, 4g"),
            std::string::npos)
      << fits.error().error;
}

}  // namespace
}  // namespace smartmig
