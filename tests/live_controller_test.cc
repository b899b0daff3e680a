// The live controller on a simulated fleet that is a process of its own.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "control/journal.h"
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

  // One event changed, with its checksum: what was decided after it does not follow any more.
  std::optional<EventRow> ended;
  {
    auto reader = JournalReader::open(rig.state_dir());
    ASSERT_TRUE(reader.has_value());
    ASSERT_TRUE(reader
                    ->each_event(1,
                                 [&](const EventRow& row) {
                                   if (row.kind == "ended") ended = row;
                                   return !ended;
                                 })
                    .has_value());
  }
  ASSERT_TRUE(ended.has_value());
  ended->kind = "lost";
  {
    auto journal = Journal::open(rig.state_dir());
    ASSERT_TRUE(journal.has_value());
    journal->begin();
    journal->put(*ended);
    ASSERT_TRUE(journal->commit().has_value());
  }
  EXPECT_NE(wrong_journal(rig.state_dir()), "");
}

// For a map of the fleet: the colour of a slice comes from its job.
TEST(LiveFleet, ASliceTellsKindAndDeadlineOfItsJob) {
  LiveRig rig("kinds");
  rig.start_fleet("2xA100-40GB", 100);
  auto controller = rig.start_controller(rig.options("none/edf"));
  ASSERT_TRUE(controller.has_value()) << controller.error().message;
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"bert-training", "training"}, {"resnet50-inference", "inference"}};
  std::map<JobNumber, std::string> expected;
  for (const auto& [profile, kind] : kinds) {
    JobRequest request = job_of(5000, 9000);
    request.profile = profile;
    expected[(*controller)->submit(request, "test")->id] = kind;
  }
  ASSERT_TRUE(wait_until([&] { return (*controller)->counters().starts == 2; }));
  std::map<JobNumber, std::string> seen;
  ASSERT_TRUE(wait_until([&] {
    seen.clear();
    for (const GpuView& gpu : (*controller)->look()->gpus) {
      EXPECT_EQ(gpu.memory_slices, 8);
      for (const SliceView& slice : gpu.slices) {
        if (slice.job != 0) seen[slice.job] = slice.job_kind;
        EXPECT_EQ(slice.job == 0, slice.job_kind.empty());
        EXPECT_EQ(slice.job == 0, slice.deadline_us < 9000 * kSecondUs);
      }
    }
    return seen.size() == 2;
  }));
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace smartmig
