// The live controller on a simulated fleet that is a process of its own.
#include <gtest/gtest.h>

#include "live_fixture.h"

namespace smartmig {
namespace {

TEST(LiveFleet, RunsJobsToTheirEndAndReplays) {
  LiveRig rig("to-the-end");
  rig.start_fleet("2xA100-40GB", 1000);
  {
    auto controller = rig.start_controller(rig.options("smartmig"));
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    for (int i = 0; i < 40; ++i) {
      JobRequest request = job_of(20 + i, 300);
      if (i % 2 == 0) request.profile = "resnet50-inference";
      ASSERT_TRUE((*controller)->submit(request, "test").has_value());
    }
    EXPECT_TRUE(wait_until([&] { return (*controller)->counters().done == 40; }))
        << (*controller)->counters().done << " done";
  }
  EXPECT_EQ(wrong_journal(rig.state_dir()), "");
  EXPECT_EQ(wrong_runs(rig), "");
}

}  // namespace
}  // namespace smartmig
