#include "sim/engine.h"

#include <gtest/gtest.h>

#include <memory>

#include "policy/partitioners.h"
#include "policy/registry.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

TimeUs s(double seconds) { return to_us(seconds); }

Job job_at(double submit_s, double time_s, double deadline_s = 1e6,
           JobKind kind = JobKind::kInference) {
  Job job;
  job.submit_us = s(submit_s);
  job.deadline_us = s(deadline_s);
  job.time_us.fill(s(time_s));
  job.kind = kind;
  return job;
}

JobTable table_of(std::vector<Job> jobs) {
  JobTable table;
  table.jobs = std::move(jobs);
  table.nominal_days = 1;
  return table;
}

// Ports that note when they are called; clones write to the same notes.
struct Notes {
  std::vector<double> partitioner_s;
  std::vector<double> placer_s;
};

class NotingPartitioner : public Partitioner {
 public:
  NotingPartitioner(std::shared_ptr<Notes> notes, std::vector<TimeUs> timers)
      : notes_(std::move(notes)), timers_(std::move(timers)) {}
  std::unique_ptr<Partitioner> clone() const override {
    return std::make_unique<NotingPartitioner>(*this);
  }
  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    whole_gpus(view.fleet(), layouts);
  }
  void decide(View& view, Decision&) override { notes_->partitioner_s.push_back(to_s(view.now())); }
  TimeUs next_timer(TimeUs now) const override {
    for (const TimeUs timer : timers_) {
      if (timer > now) return timer;
    }
    return kNever;
  }

 private:
  std::shared_ptr<Notes> notes_;
  std::vector<TimeUs> timers_;
};

class NotingPlacer : public Placer {
 public:
  NotingPlacer(std::shared_ptr<Notes> notes, std::unique_ptr<Placer> inner)
      : notes_(std::move(notes)), inner_(std::move(inner)) {}
  std::unique_ptr<Placer> clone() const override {
    return std::make_unique<NotingPlacer>(notes_, inner_->clone());
  }
  void decide(View& view, std::vector<Start>& starts) override {
    notes_->placer_s.push_back(to_s(view.now()));
    inner_->decide(view, starts);
  }

 private:
  std::shared_ptr<Notes> notes_;
  std::unique_ptr<Placer> inner_;
};

using Times = std::vector<double>;

class EngineTest : public testing::Test {
 protected:
  Policy noting(std::vector<TimeUs> timers = {}) {
    Policy policy = *make_policy("none/first-fit", fleet_);
    policy.partitioner = std::make_unique<NotingPartitioner>(notes_, std::move(timers));
    policy.placer = std::make_unique<NotingPlacer>(notes_, std::move(policy.placer));
    return policy;
  }
  EngineOptions options(Preemption preemption = Preemption::kOff,
                        const Costs& costs = Costs::free()) const {
    EngineOptions options;
    options.preemption = preemption;
    options.costs = costs;
    return options;
  }

  Fleet fleet_ = *Fleet::parse("2xA100-40GB");
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
};

TEST_F(EngineTest, EventsAtOneInstantAreOneCall) {
  // At 10 s two jobs end and three arrive.
  const JobTable jobs =
      table_of({job_at(0, 10), job_at(0, 10), job_at(10, 7), job_at(10, 7), job_at(10, 5)});
  for (const Preemption preemption :
       {Preemption::kFree, Preemption::kCheckpoint, Preemption::kOff}) {
    *notes_ = {};
    Engine engine(fleet_, jobs, noting(), options(preemption));
    ASSERT_TRUE(engine.run());
    // The first two arrivals; then as above; 17 s two ends; 22 s the last.
    EXPECT_EQ(notes_->partitioner_s, (Times{0, 10, 17, 22})) << to_string(preemption);
    EXPECT_EQ(notes_->placer_s, (Times{0, 10, 17, 22})) << to_string(preemption);
    EXPECT_EQ(engine.events(), 10);
  }
}

TEST_F(EngineTest, TimersCallThePartitionerBetweenEvents) {
  const JobTable jobs = table_of({job_at(0, 10)});
  Engine engine(fleet_, jobs, noting({s(3), s(10), s(20)}), options());
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(notes_->partitioner_s, (Times{0, 3, 10}))
      << "one at an event is part of it, one after the end is not";
}

TEST_F(EngineTest, TheEndOfASaveCallsThePlacerButNotThePartitioner) {
  // Job 1 displaces job 0 (training) at 2 s: saved at 7 s, when job 1 starts. Job 0 restores from
  // 12 s to 22 s.
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(0, 100, 1e6, JobKind::kTraining), job_at(2, 5, 13)});
  Engine engine(one, jobs, noting(), options(Preemption::kCheckpoint, Costs::real()));
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(notes_->partitioner_s, (Times{0, 2, 12, 120}));
  EXPECT_EQ(notes_->placer_s, (Times{0, 2, 7, 12, 120}));
  EXPECT_EQ(engine.finish_us()[1], s(12));
  EXPECT_EQ(engine.finish_us()[0], s(22 + 98));
}

TEST_F(EngineTest, EveryStartOfAProcessTakesItsTime) {
  // Both start for 3 s. Job 1 displaces job 0 (training) at 10 s: saved at 15 s, when job 1 starts.
  // Job 0 starts again at 23 s, restores from 26 s to 36 s and has 93 s left.
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(0, 100, 1e6, JobKind::kTraining), job_at(10, 5, 24)});
  Costs costs = Costs::real();
  costs.start_us = s(3);
  Engine engine(one, jobs, noting(), options(Preemption::kCheckpoint, costs));
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(engine.finish_us()[1], s(23));
  EXPECT_EQ(engine.finish_us()[0], s(129));
  EXPECT_EQ(notes_->placer_s, (Times{0, 10, 15, 23, 129})) << "the end of a start is no instant";
  const auto& power = one.board(0).power;
  const double busy_s = 12 + 5 + 103;  // Saves and restores draw as busy.
  EXPECT_NEAR(engine.energy_j(), 9 * power.context_idle_w + busy_s * power.busy_w[7], 1e-6);
}

// Stops the job that runs when another one comes.
class StoppingPartitioner : public NotingPartitioner {
 public:
  using NotingPartitioner::NotingPartitioner;
  std::unique_ptr<Partitioner> clone() const override {
    return std::make_unique<StoppingPartitioner>(*this);
  }
  bool stops_jobs() const override { return true; }
  void decide(View& view, Decision& decision) override {
    NotingPartitioner::decide(view, decision);
    if (view.now() == s(2)) decision.stops.push_back(0);
  }
};

TEST_F(EngineTest, TheEndOfASaveCallsAPartitionerThatStopsJobs) {
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(0, 100, 1e6, JobKind::kTraining), job_at(2, 5, 13)});
  Policy policy = noting();
  policy.partitioner = std::make_unique<StoppingPartitioner>(notes_, std::vector<TimeUs>{});
  Engine engine(one, jobs, policy, options(Preemption::kCheckpoint, Costs::real()));
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(notes_->partitioner_s, (Times{0, 2, 7, 12, 120}));
}

TEST_F(EngineTest, AJobThatNeverRunsIsAnErrorThatNamesIt) {
  JobTable jobs = table_of({job_at(0, 10), job_at(0, 10), job_at(1, 10)});
  jobs.jobs[1].memory_mib = 10'000;
  jobs.jobs[2].memory_mib = 10'000;
  for (const char* id : {"a", "b", "c"}) jobs.ids.push_back(id);
  const Policy policy = *make_policy("static:1-1-1-1-1-1-1*2/edf", fleet_);
  Engine engine(fleet_, jobs, policy, options());
  const auto done = engine.run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "2 of 3 jobs never ran, the first is job b: no slice that policy "
            "static:1-1-1-1-1-1-1*2/edf makes on this "
            "fleet has the memory and a time for it, or the GPU it needs did not return");
  EXPECT_EQ(engine.completed(), 1u);
}

TEST_F(EngineTest, TimersDoNotKeepAHopelessRunAlive) {
  JobTable jobs = table_of({job_at(0, 10)});
  const Policy policy = *make_policy("day-night:8=1-1*2+20=2-1*2/edf", fleet_);
  jobs.jobs[0].memory_mib = 39'000;
  Engine engine(fleet_, jobs, policy, options());
  EXPECT_FALSE(engine.run());
}

TEST_F(EngineTest, AJobMayWaitForTheLayoutOfTheNight) {
  JobTable jobs = table_of({job_at(9 * 3600, 10)});
  jobs.jobs[0].memory_mib = 39'000;
  const Policy policy = *make_policy("day-night:8=4-3*2+20=7*2/edf", fleet_);
  Engine engine(fleet_, jobs, policy, options());
  const auto done = engine.run();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(engine.finish_us()[0], 20 * kHourUs + s(10));
}

TEST_F(EngineTest, GpuEventsBeforeTheFirstSubmitAreThereFromTheStart) {
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(10, 5)});
  EngineOptions with = options();
  with.events = {{s(5), 0, true}, {s(20), 0, false}};
  Engine engine(one, jobs, *make_policy("none/edf", one), with);
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(engine.begin_us(), s(10));
  EXPECT_EQ(engine.finish_us()[0], s(25));
  EXPECT_NEAR(engine.energy_j(), 5 * 248.5, 1e-9) << "down, it draws nothing";
  // One that failed and returned before the start is simply up.
  with.events = {{s(2), 0, true}, {s(5), 0, false}};
  Engine healed(one, jobs, *make_policy("none/edf", one), with);
  ASSERT_TRUE(healed.run());
  EXPECT_EQ(healed.finish_us()[0], s(15));
}

TEST_F(EngineTest, AGpuThatDoesNotReturnLeavesItsJobsUndone) {
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(0, 5)});
  EngineOptions with = options();
  with.events = {{s(3), 0, true}};
  Engine engine(one, jobs, *make_policy("none/edf", one), with);
  EXPECT_FALSE(engine.run());
}

TEST_F(EngineTest, ACompletionAtTheTimeOfAFailureCounts) {
  const Fleet one = *Fleet::parse("A100-40GB");
  const JobTable jobs = table_of({job_at(0, 5)});
  EngineOptions with = options();
  with.events = {{s(5), 0, true}};
  Engine engine(one, jobs, *make_policy("none/edf", one), with);
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(engine.finish_us()[0], s(5));
}

TEST_F(EngineTest, ACopyGoesOnByItself) {
  const JobTable jobs = table_of({job_at(0, 10), job_at(1, 10), job_at(2, 10), job_at(3, 10)});
  Engine engine(fleet_, jobs, *make_policy("count/cedf", fleet_), options(Preemption::kFree));
  ASSERT_TRUE(engine.step());
  ASSERT_TRUE(engine.step());
  Engine copy = engine;
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(copy.completed(), 0u);
  EXPECT_EQ(copy.state().now(), s(1));
  ASSERT_TRUE(copy.run());
  EXPECT_TRUE(std::ranges::equal(copy.finish_us(), engine.finish_us()));
}

TEST_F(EngineTest, StepsAreOverWhenAllJobsAreDone) {
  const JobTable jobs = table_of({job_at(3, 10)});
  Engine engine(fleet_, jobs, noting(), options());
  EXPECT_EQ(engine.begin_us(), s(3));
  EXPECT_TRUE(engine.step());
  EXPECT_TRUE(engine.step());
  EXPECT_FALSE(engine.step());
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(engine.end_us(), s(13));
}

// A job of 1,000 s on GPU 0 and one of 50 s, the last to come, on GPU 1.
JobTable long_and_short() { return table_of({job_at(0, 1000), job_at(100, 50)}); }

double energy_of(const JobTable& table, std::vector<GpuEvent> events = {},
                 const Costs& costs = Costs::free()) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  EngineOptions options;
  options.costs = costs;
  options.events = std::move(events);
  options.preemption = Preemption::kOff;
  options.records = true;
  Engine engine(fleet, table, *make_policy("none/edf", fleet), options);
  EXPECT_TRUE(engine.run());
  return engine.energy_j();
}

TEST(TraceEnergy, ABoardIsChargedToTheLaterOfTheLastSubmitAndItsOwnLastJob) {
  JobTable table = long_and_short();
  const double busy_j = (1000 + 50) * 248.5 + 100 * 40;
  EXPECT_NEAR(energy_of(table), busy_j + 850 * 40, 1e-6) << "the papers' rule";
  table.trace = TraceWindow{0, s(100)};
  EXPECT_NEAR(energy_of(table), busy_j, 1e-6);
}

TEST(TraceEnergy, ABoardWithoutAJobIsChargedFromTheFirstToTheLastSubmit) {
  JobTable table = table_of({job_at(10, 1000)});
  table.trace = TraceWindow{s(10), s(10)};
  EXPECT_NEAR(energy_of(table), 1000 * 248.5, 1e-6);
  // Jobs that fit no slice came before and after it.
  table.trace = TraceWindow{s(4), s(2010)};
  EXPECT_NEAR(energy_of(table), 1000 * 248.5 + (6 + 1000 + 2006) * 40, 1e-6);
}

TEST(TraceEnergy, ABoardThatHasAJobAgainIsChargedForThePause) {
  // GPU 1 ends its job at 150 s. GPU 0 fails at 400 s, and its job starts again on GPU 1.
  JobTable table = long_and_short();
  table.trace = TraceWindow{0, s(100)};
  const double expected = 400 * 248.5 + 100 * 40 + 50 * 248.5 + 250 * 40 + 1000 * 248.5;
  EXPECT_NEAR(energy_of(table, {{s(400), 0, true}}), expected, 1e-6);
}

TEST(TraceEnergy, FailuresAfterABoardsLastJobChangeNothing) {
  JobTable table = long_and_short();
  table.trace = TraceWindow{0, s(100)};
  const double busy_j = (1000 + 50) * 248.5 + 100 * 40;
  EXPECT_NEAR(energy_of(table, {{s(300), 1, true}, {s(500), 1, false}}), busy_j, 1e-6);
  // Before the last submit they do.
  EXPECT_NEAR(energy_of(table, {{s(20), 1, true}, {s(60), 1, false}}), busy_j - 40 * 40, 1e-6);
  // A board that is down while the trace waits for its last submit.
  table.trace = TraceWindow{0, s(2000)};
  const double idle_j = (1850 + 1000) * 40;
  EXPECT_NEAR(energy_of(table, {{s(1200), 0, true}, {s(1500), 0, false}}),
              busy_j + idle_j - 300 * 40, 1e-6);
}

TEST(TraceEnergy, LevelsOfAnIdleBoardEndWithItsCharge) {
  // `real`: for 1.4 s after its last job a board draws 76 W. GPU 1 is not charged for that, and
  // GPU 0, whose job ends before the last submit, is.
  JobTable table = table_of({job_at(0, 50), job_at(100, 50)});
  table.jobs[1].memory_mib = 0;
  table.trace = TraceWindow{0, s(100)};
  const double first = 50 * 248.5 + 1.4 * 76 + 48.6 * 40;
  EXPECT_NEAR(energy_of(table, {}, Costs::real()), first + 50 * 248.5 + 100 * 40, 1e-6);
}

TEST(TraceEnergy, RecordsAndHoursAddUpToIt) {
  const Fleet fleet = *Fleet::parse("3xA100-40GB");
  JobTable table = table_of({job_at(0, 9000), job_at(3000, 400), job_at(3500, 3700)});
  table.trace = TraceWindow{0, s(3500)};
  EngineOptions options;
  options.costs = Costs::real();
  options.records = options.hourly_energy = true;
  options.preemption = Preemption::kOff;
  options.events = {{s(5000), 2, true}, {s(6000), 2, false}};
  Engine engine(fleet, table, *make_policy("none/edf", fleet), options);
  ASSERT_TRUE(engine.run());
  double by_hour_j = 0;
  for (const double joules : engine.energy_by_hour_j()) by_hour_j += joules;
  EXPECT_NEAR(by_hour_j, engine.energy_j(), 1e-6);
  EXPECT_NEAR(engine.energy_by_hour_j()[2], 1800 * 248.5, 1e-6)
      << "only GPU 0 is charged after 2 h";
  const double seconds = to_s(engine.charged_end_us() - engine.begin_us());
  EXPECT_NEAR(engine.records()->means().power_w * seconds, engine.energy_j(), 1e-6);
  PowerRecord last;
  for (const PowerRecord& step : engine.records()->power()) {
    if (step.gpu == 1) last = step;
  }
  EXPECT_EQ(last.at_us, s(7200));
  EXPECT_EQ(last.watts, 0) << "a board that is no longer charged draws nothing";
}

}  // namespace
}  // namespace smartmig
