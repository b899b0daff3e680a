// The live controller on a simulated fleet that is a process of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <thread>

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
    // A decision while all is free: a job that was to be there would be started then at the latest.
    ASSERT_TRUE((*controller)->submit(job_of(20, 300), "test").has_value());
    EXPECT_TRUE(wait_until([&] { return (*controller)->counters().done == 41; }));
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

TEST(LiveFleet, ShowsNothingThatIsNotInTheJournal) {
  LiveRig rig("shows-what-is-written");
  rig.start_fleet("1xA100-40GB", 2000);
  ControllerOptions options = rig.options("none/edf");
  // The loop is often away, so that the end of a run and a question come together.
  options.at = [](std::string_view point) {
    if (point == "committed") std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  auto controller = rig.start_controller(options);
  ASSERT_TRUE(controller.has_value()) << controller.error().message;
  auto reader = JournalReader::open(rig.state_dir());
  ASSERT_TRUE(reader.has_value());
  for (int i = 0; i < 20; ++i) {
    const auto job = (*controller)->submit(job_of(20, 300), "test");
    ASSERT_TRUE(job.has_value());
    ASSERT_TRUE(wait_until([&] {
      const FleetSummary seen = (*controller)->summary();
      return seen.queued + seen.running == 0;
    }));
    const auto row = reader->job(job->id);
    ASSERT_TRUE(row && row->has_value());
    ASSERT_EQ(to_string((*row)->phase), "done") << "job " << job->id;
  }
}

TEST(LiveFleet, ForgetsWhatIsOldAndReplaysTheRest) {
  LiveRig rig("forgets");
  rig.start_fleet("2xA100-40GB", 2000);
  ControllerOptions options = rig.options("smartmig");
  options.keep_events = 100;
  {
    auto controller = rig.start_controller(options);
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    for (int i = 1; i <= 200; ++i) {
      ASSERT_TRUE((*controller)->submit(job_of(20, 300), "test").has_value());
      if (i % 20 == 0) {
        EXPECT_TRUE(wait_until([&] { return (*controller)->counters().done == i; }));
      }
    }
    const double energy_j = (*controller)->summary().energy_j;
    // 200 jobs of 20 s and more, by boards that draw more than 50 W.
    EXPECT_GT(energy_j, 2 * 50 * 200 * 20 / 14.0);
  }
  EXPECT_EQ(wrong_journal(rig.state_dir()), "");
  auto reader = JournalReader::open(rig.state_dir());
  ASSERT_TRUE(reader.has_value());
  std::vector<std::int64_t> numbers;
  ASSERT_TRUE(reader->each_event(0, [&](const EventRow& row) {
    if (numbers.empty()) {
      EXPECT_EQ(row.kind, "begin");
    }
    numbers.push_back(row.number);
    return true;
  }));
  EXPECT_GE(numbers.size(), 100u);
  EXPECT_LE(numbers.size(), 300u);
  EXPECT_GT(numbers.front(), 400);
  EXPECT_EQ(reader->jobs(JobPhase::kDone, 0, 1000)->size(), 200u);  // Those are young.
}

TEST(LiveFleet, ForgetsJobsThatWereOverLongAgo) {
  LiveRig rig("forgets-jobs");
  rig.start_fleet("1xA100-40GB", 50'000);  // A day takes 1.7 s.
  ControllerOptions options = rig.options("none/edf");
  options.keep_days = 1;
  const auto run_one = [](Controller& controller) {
    const auto before = controller.counters().done;
    const auto done = controller.submit(job_of(20, 300), "test");
    EXPECT_TRUE(wait_until([&] { return controller.counters().done > before; }));
    return done ? done->id : 0;
  };
  const auto is_known = [&](JobNumber job) {
    const auto found = JournalReader::open(rig.state_dir())->job(job);
    return found && found->has_value();
  };
  JobNumber old = 0;
  {
    auto controller = rig.start_controller(options);
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    old = run_one(**controller);
    const TimeUs then = (*controller)->now_us();
    EXPECT_TRUE(is_known(old));
    ASSERT_TRUE(wait_until([&] { return (*controller)->now_us() > then + kDayUs; }));
  }
  {
    auto controller = rig.start_controller(options);
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    EXPECT_TRUE(wait_until([&] { return !is_known(old); }));
    const JobNumber young = run_one(**controller);
    EXPECT_GT(young, old) << "a number is not given again";
    EXPECT_TRUE(is_known(young));
  }
  EXPECT_EQ(wrong_journal(rig.state_dir()), "");
}

// Its own policy beside itself: what is modelled is what happens, but for jobs that one of the two
// does not finish.
TEST(LiveFleet, ShowsAnotherPolicyOnTheSameJobs) {
  LiveRig rig("modelled");
  // Slow enough that what a busy machine adds to each start is little beside a job's time.
  rig.start_fleet("2xA100-40GB", 10);
  auto controller = rig.start_controller(rig.options("none/edf"));
  ASSERT_TRUE(controller.has_value()) << controller.error().message;
  const JobNumber cancelled = (*controller)->submit(job_of(90'000, 99'000), "test")->id;
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE((*controller)->submit(job_of(20 + 3 * i, 30), "test").has_value());
  ASSERT_TRUE(wait_until([&] { return (*controller)->counters().done >= 4; }));
  ASSERT_TRUE((*controller)->cancel(cancelled, "test", "").has_value());
  std::optional<ModelledView> seen;
  ASSERT_TRUE(wait_until([&] {
    seen = (*controller)->summary().modelled;
    return seen && seen->own_done == 8 && seen->done == 8;
  }));
  EXPECT_EQ(seen->policy, "none/edf");
  EXPECT_GT(seen->own_late, 4);
  EXPECT_LE(std::abs(seen->late - seen->own_late), 2);
  EXPECT_NEAR(seen->tardiness_s, seen->own_tardiness_s, 0.1 * seen->own_tardiness_s);
  EXPECT_NEAR(seen->energy_j, seen->own_energy_j, 0.05 * seen->own_energy_j);
}

// Those who look at a large fleet share a picture, and see what they have asked for.
TEST(LiveFleet, APictureIsSharedAndNotOlderThanTheLastCommand) {
  LiveRig rig("picture");
  rig.start_fleet("300xA100-40GB", 1);
  auto controller = rig.start_controller(rig.options("none/edf"));
  ASSERT_TRUE(controller.has_value()) << controller.error().message;
  const auto first = (*controller)->look();
  EXPECT_EQ((*controller)->look(), first);
  EXPECT_EQ(first->gpus[5].state, "up");
  Command cordon;
  cordon.kind = Command::Kind::kCordon;
  cordon.gpu = "5";
  ASSERT_TRUE((*controller)->command(cordon, "test").has_value());
  EXPECT_EQ((*controller)->look()->gpus[5].state, "cordoned");
  Command freeze;
  ASSERT_TRUE((*controller)->command(freeze, "test").has_value());
  EXPECT_TRUE((*controller)->summary().frozen);
  // What nobody has asked for comes by and by.
  ASSERT_TRUE((*controller)->submit(job_of(100, 200), "test").has_value());
  EXPECT_TRUE(wait_until([&] { return (*controller)->look()->queued == 1; }));
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
    const auto fleet = (*controller)->look();
    for (const GpuView& gpu : fleet->gpus) {
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
