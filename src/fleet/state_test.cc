#include "fleet/state.h"

#include <gtest/gtest.h>

#include "workload/catalogue.h"

namespace smartmig {
namespace {

// A job of 84 s on 1g that runs k times as fast on k slices.
Job linear_job(double deadline_s, JobKind kind = JobKind::kTraining) {
  Job job;
  job.deadline_us = to_us(deadline_s);
  job.kind = kind;
  for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(84) / kSizes[size];
  return job;
}

// One or two A100s with everything at hand that moves them.
class Gpus {
 public:
  Gpus(std::string_view fleet, std::string_view layouts, std::vector<Job> jobs,
       const State::Options& options)
      : fleet_(*Fleet::parse(fleet)), jobs_(std::move(jobs)), state(fleet_, jobs_, options) {
    const auto sets = *parse_layout_list(layouts, fleet_);
    for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu) state.place_initial(gpu, sets[gpu]);
  }

  SlotSet layout(std::string_view name) const { return *parse_layout(fleet_.board(0), name); }
  // The slot of a base slice of that size and start, and a start of a job there.
  std::uint8_t slot(int compute, int start) const {
    const Board& board = fleet_.board(0);
    for (std::uint8_t i = 0; i < board.slots.size(); ++i) {
      if (board.slots[i].profile == board.base_profile(compute) && board.slots[i].start == start)
        return i;
    }
    return 255;
  }
  Start on(JobIndex job, int compute, int start, GpuIndex gpu = 0) const {
    return {job, id(start, gpu), slot(compute, start)};
  }
  SliceId id(int start, GpuIndex gpu = 0) const {
    return fleet_.slice_at(gpu, static_cast<std::uint32_t>(start));
  }
  const SliceState& slice(int start, GpuIndex gpu = 0) const { return state.slice(id(start, gpu)); }
  std::string ready_layout(GpuIndex gpu = 0) const {
    SlotSet set = 0;
    for (SlotSet rest = state.gpu(gpu).present; rest; rest &= rest - 1) {
      const int at = std::countr_zero(rest);
      const SliceState& there = slice(fleet_.board(gpu).slots[at].start, gpu);
      if (there.phase == SlicePhase::kReady && !there.doomed) set |= rest & -rest;
    }
    return layout_name(fleet_.board(gpu), set);
  }
  JobStatus status(JobIndex job) const { return state.job_state(job).status; }
  std::vector<JobIndex> queue() const {
    std::vector<JobIndex> jobs;
    for (const State::Group& group : state.groups()) {
      for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at)) {
        jobs.push_back(group.queue.at(at).job);
      }
    }
    return jobs;
  }
  int free_slices() const {
    int count = 0;
    for (SliceId slice = 0; slice < fleet_.slice_count(); ++slice) {
      const KindIndex kind = state.slice(slice).kind;
      count += kind != kNoKind && state.free().is_free(slice, kind);
    }
    return count;
  }
  // The operation under way ends, and the next one begins; returns its end.
  TimeUs next_operation(GpuIndex gpu = 0) {
    state.set_now(state.gpu(gpu).operation_end_us);
    state.end_operation(gpu);
    return state.advance(gpu);
  }

 private:
  Fleet fleet_;
  std::vector<Job> jobs_;

 public:
  State state;
};

State::Options options(const Costs& costs, Preemption preemption) {
  State::Options options;
  options.costs = costs;
  options.preemption = preemption;
  return options;
}

TEST(State, AJobGoesThroughReadyRunningDone) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100), linear_job(100)},
            options(Costs::free(), Preemption::kOff));
  State& state = gpus.state;
  EXPECT_EQ(gpus.free_slices(), 2);
  EXPECT_EQ(gpus.status(0), JobStatus::kFuture);
  state.arrive(0);
  EXPECT_EQ(gpus.status(0), JobStatus::kReady);
  EXPECT_EQ(state.ready_count(), 1u);
  EXPECT_EQ(state.start(gpus.on(0, 4, 0)), to_us(21)) << "84 s over four slices";
  EXPECT_EQ(gpus.status(0), JobStatus::kRunning);
  EXPECT_EQ(state.job_state(0).slice, gpus.id(0));
  EXPECT_EQ(gpus.slice(0).job, 0u);
  EXPECT_EQ(state.ready_count(), 0u);
  EXPECT_TRUE(gpus.queue().empty());
  EXPECT_EQ(gpus.free_slices(), 1);
  EXPECT_EQ(state.power().busy(0), 4);
  state.set_now(to_us(7));
  EXPECT_NEAR(state.left_now(0), 2.0 / 3, 1e-12);
  state.set_now(to_us(21));
  state.complete(gpus.id(0));
  EXPECT_EQ(gpus.status(0), JobStatus::kDone);
  EXPECT_EQ(state.jobs_in_system(), 0u);
  EXPECT_EQ(gpus.slice(0).job, kNone);
  EXPECT_EQ(gpus.free_slices(), 2);
  EXPECT_EQ(state.power().busy(0), 0);
  EXPECT_EQ(state.preemptions(), 0);
}

TEST(State, UnderFreeAllJobsAreQueuedAndAllSlicesFreeWhileTheyRun) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(50), linear_job(40)},
            options(Costs::free(), Preemption::kFree));
  State& state = gpus.state;
  state.arrive(0);
  state.arrive(1);
  state.start(gpus.on(0, 4, 0));
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{1, 0}));
  EXPECT_EQ(gpus.free_slices(), 2);
  // A whole assignment that changes places: both were not where they are now.
  std::vector<JobIndex> started;
  state.set_now(to_us(7));
  const std::vector<Start> swap = {gpus.on(1, 4, 0), gpus.on(0, 3, 4)};
  state.assign_whole(swap, started);
  EXPECT_EQ(started, (std::vector<JobIndex>{1, 0}));
  EXPECT_EQ(state.preemptions(), 1) << "job 0 was moved, job 1 had not run";
  EXPECT_EQ(gpus.slice(4).end_us, to_us(7) + std::llround(84e6 / 3 * 2 / 3))
      << "two thirds of job 0 were left";
  // The same again: nothing moves, no end changes.
  started.clear();
  state.set_now(to_us(9));
  state.assign_whole(swap, started);
  EXPECT_TRUE(started.empty());
  EXPECT_EQ(gpus.slice(0).end_us, to_us(7 + 21));
  // An empty one stops both.
  state.assign_whole({}, started);
  EXPECT_EQ(state.preemptions(), 3);
  EXPECT_EQ(state.ready_count(), 2u);
  EXPECT_TRUE(state.running().empty());
}

TEST(State, AStopUnderCheckpointSavesThenRestoresElsewhere) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100)}, options(Costs::real(), Preemption::kCheckpoint));
  State& state = gpus.state;
  state.arrive(0);
  EXPECT_EQ(state.start(gpus.on(0, 4, 0)), to_us(21)) << "a first start restores nothing";
  state.set_now(to_us(7));
  EXPECT_EQ(state.stop(0), to_us(12)) << "5 s to save";
  EXPECT_EQ(gpus.status(0), JobStatus::kSaving);
  EXPECT_EQ(state.power().busy(0), 4) << "a save draws power as a run does";
  EXPECT_EQ(gpus.free_slices(), 1);
  EXPECT_EQ(state.job_state(0).left, 1) << "nothing is saved before the save ends";
  state.set_now(to_us(12));
  state.end_save(gpus.id(0));
  EXPECT_EQ(gpus.status(0), JobStatus::kReady);
  EXPECT_NEAR(state.job_state(0).left, 2.0 / 3, 1e-12) << "no progress while it saved";
  EXPECT_EQ(gpus.free_slices(), 2);
  EXPECT_EQ(state.start(gpus.on(0, 3, 4)), to_us(12) + to_us(10) + std::llround(28e6 * 2 / 3));
  state.set_now(to_us(20));
  EXPECT_NEAR(state.left_now(0), 2.0 / 3, 1e-12) << "no progress while it restores";
  EXPECT_EQ(state.preemptions(), 1);
}

TEST(State, AFailureLosesWhatWasNotSaved) {
  Gpus gpus("2xA100-40GB", "4-3,7", {linear_job(100), linear_job(100), linear_job(100)},
            options(Costs::real(), Preemption::kCheckpoint));
  State& state = gpus.state;
  for (JobIndex job = 0; job < 3; ++job) state.arrive(job);
  state.start(gpus.on(0, 4, 0));
  state.start(gpus.on(1, 3, 4));
  state.set_now(to_us(7));
  state.stop(0);  // It saves until 12 s.
  state.start(gpus.on(2, 4, 0));
  EXPECT_EQ(gpus.status(2), JobStatus::kPending);
  state.set_now(to_us(10));
  state.fail(0);
  for (JobIndex job = 0; job < 3; ++job) {
    EXPECT_EQ(gpus.status(job), JobStatus::kReady) << "job " << job;
    EXPECT_EQ(state.job_state(job).left, 1) << "job " << job;
  }
  EXPECT_EQ(gpus.queue().size(), 3u);
  EXPECT_EQ(state.gpus_up(), 1u);
  EXPECT_EQ(state.gpu(0).present, 0u);
  EXPECT_EQ(gpus.free_slices(), 1) << "the whole GPU 1";
  EXPECT_EQ(state.power().watts_at(0, to_us(10)), 0);
  EXPECT_EQ(state.preemptions(), 1) << "the stop; a failure is none";
  EXPECT_EQ(state.advance(0), kNever) << "a board that is down makes nothing";
  state.fail(0);
  EXPECT_EQ(state.health_changes(), 1u) << "it was down already";
  state.set_now(to_us(20));
  state.bring_back(0);
  EXPECT_EQ(state.advance(0), to_us(20.2)) << "3g first, .20 s: the lowest slot of its target";
  EXPECT_EQ(gpus.next_operation(), to_us(20.41));
  EXPECT_EQ(gpus.next_operation(), kNever);
  EXPECT_EQ(gpus.ready_layout(), "4-3");
  EXPECT_EQ(gpus.free_slices(), 3);
}

TEST(State, AStartWaitsForASliceThatIsStillToBeMade) {
  Gpus gpus("A100-40GB", "7", {linear_job(100)}, options(Costs::real(), Preemption::kOff));
  State& state = gpus.state;
  state.arrive(0);
  state.set_target(0, gpus.layout("4-3"));
  EXPECT_EQ(gpus.free_slices(), 0) << "the 7g is doomed, though nothing was done yet";
  EXPECT_EQ(state.advance(0), to_us(0.22)) << "destroy 7g";
  EXPECT_EQ(state.advance(0), kNever) << "one operation at a time";
  EXPECT_EQ(state.start(gpus.on(0, 4, 0)), kNever);
  EXPECT_EQ(gpus.status(0), JobStatus::kPending);
  EXPECT_TRUE(gpus.queue().empty());
  EXPECT_TRUE(state.is_awaited(0, gpus.slot(4, 0)));
  EXPECT_EQ(state.slots_in_use(0), SlotSet{1} << gpus.slot(4, 0)) << "promised is in use";
  EXPECT_EQ(gpus.next_operation(), to_us(0.42)) << "create 3g";
  EXPECT_FALSE(state.next_awaiting(0));
  EXPECT_EQ(gpus.next_operation(), to_us(0.63)) << "create 4g";
  EXPECT_FALSE(state.next_awaiting(0)) << "it is being made";
  EXPECT_EQ(gpus.next_operation(), kNever);
  const auto start = state.next_awaiting(0);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->job, 0u);
  EXPECT_EQ(state.start(*start), to_us(0.63 + 21));
  EXPECT_EQ(gpus.free_slices(), 1);
}

TEST(State, ADoomedSliceKeepsItsJobAndGoesWithIt) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100), linear_job(100)},
            options(Costs::free(), Preemption::kOff));
  State& state = gpus.state;
  state.arrive(0);
  state.start(gpus.on(0, 4, 0));
  state.set_target(0, gpus.layout("7"));
  EXPECT_EQ(state.advance(0), kNever);
  EXPECT_EQ(gpus.slice(4).phase, SlicePhase::kAbsent) << "the free 3g goes at once";
  EXPECT_TRUE(gpus.slice(0).doomed);
  EXPECT_EQ(gpus.status(0), JobStatus::kRunning);
  EXPECT_EQ(gpus.free_slices(), 0);
  state.set_now(to_us(21));
  state.complete(gpus.id(0));
  EXPECT_EQ(gpus.free_slices(), 0) << "a doomed slice takes no new job";
  state.advance(0);
  EXPECT_EQ(gpus.ready_layout(), "7");
  EXPECT_EQ(gpus.free_slices(), 1);
}

TEST(State, UnderFreeADoomedSliceLosesItsJobAtOnce) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100)}, options(Costs::free(), Preemption::kFree));
  State& state = gpus.state;
  state.arrive(0);
  state.start(gpus.on(0, 4, 0));
  state.set_now(to_us(7));
  state.set_target(0, gpus.layout("7"));
  EXPECT_EQ(gpus.status(0), JobStatus::kReady);
  EXPECT_NEAR(state.job_state(0).left, 2.0 / 3, 1e-12);
  EXPECT_EQ(state.preemptions(), 1);
  state.advance(0);
  EXPECT_EQ(gpus.ready_layout(), "7");
}

TEST(State, ANewerTargetReplacesWhatIsLeftOfTheOld) {
  Gpus gpus("A100-40GB", "7", {linear_job(100)}, options(Costs::real(), Preemption::kOff));
  State& state = gpus.state;
  state.arrive(0);
  state.set_target(0, gpus.layout("4-3"));
  EXPECT_EQ(state.advance(0), to_us(0.22));
  state.start(gpus.on(0, 4, 0));
  state.set_now(to_us(0.1));
  state.set_target(0, gpus.layout("3-3"));
  EXPECT_EQ(gpus.status(0), JobStatus::kReady) << "its 4g is no longer wanted";
  EXPECT_EQ(state.gpu(0).operation_end_us, to_us(0.22))
      << "an operation under way is not broken off";
  EXPECT_EQ(gpus.next_operation(), to_us(0.42));
  EXPECT_EQ(gpus.next_operation(), to_us(0.62));
  EXPECT_EQ(gpus.next_operation(), kNever);
  EXPECT_EQ(gpus.ready_layout(), "3-3");
}

TEST(State, ATargetThatWantsADoomedSliceAgainSparesIt) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100)}, options(Costs::free(), Preemption::kOff));
  State& state = gpus.state;
  state.arrive(0);
  state.start(gpus.on(0, 4, 0));
  state.set_target(0, gpus.layout("7"));
  state.advance(0);
  state.set_target(0, gpus.layout("4-2-1"));
  state.advance(0);
  EXPECT_EQ(gpus.ready_layout(), "4-2-1");
  EXPECT_FALSE(gpus.slice(0).doomed);
  state.set_now(to_us(21));
  state.complete(gpus.id(0));
  EXPECT_EQ(gpus.free_slices(), 3);
}

TEST(State, CuttingADeadlineSortsTheQueueAnew) {
  Gpus gpus("A100-40GB", "7", {linear_job(10), linear_job(12), linear_job(14)},
            options(Costs::free(), Preemption::kFree));
  State& state = gpus.state;
  for (JobIndex job = 0; job < 3; ++job) state.arrive(job);
  state.start(gpus.on(1, 7, 0));
  state.cut_deadline(2, to_us(4));  // Now 10 s, as job 0: the lower index stays first.
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{0, 2, 1}));
  state.cut_deadline(1, to_us(20));  // A running job is queued too where everything is ready.
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{1, 0, 2}));
  EXPECT_EQ(state.job_state(1).deadline_us, -to_us(8));
}

TEST(State, OrdersTheQueueByDeadlineClassOrWorkLeft) {
  Job steep = linear_job(100);  // Class 1, 12 s on 7g.
  Job flat = linear_job(10);    // Class 4.
  for (TimeUs& us : flat.time_us) us = to_us(30);
  Job short_one = linear_job(50);  // Class 4, 6 s on 7g.
  for (TimeUs& us : short_one.time_us) us = to_us(6);
  const auto queue_by = [&](JobOrder order) {
    State::Options by = options(Costs::free(), Preemption::kOff);
    by.job_order = order;
    Gpus gpus("A100-40GB", "7", {steep, flat, short_one}, by);
    for (JobIndex job = 0; job < 3; ++job) gpus.state.arrive(job);
    return gpus.queue();
  };
  EXPECT_EQ(queue_by(JobOrder::kDeadline), (std::vector<JobIndex>{1, 2, 0}));
  EXPECT_EQ(queue_by(JobOrder::kClassDeadline), (std::vector<JobIndex>{0, 1, 2}));
  EXPECT_EQ(queue_by(JobOrder::kRemaining), (std::vector<JobIndex>{2, 0, 1}));
}

TEST(State, RefreshesTheKeysOfRunningJobsAsTheirWorkShrinks) {
  State::Options by = options(Costs::free(), Preemption::kFree);
  by.job_order = JobOrder::kRemaining;
  Job shorter = linear_job(100);
  for (TimeUs& us : shorter.time_us) us /= 2;
  Gpus gpus("A100-40GB", "7", {linear_job(100), shorter}, by);
  gpus.state.arrive(0);
  gpus.state.arrive(1);
  gpus.state.start(gpus.on(0, 7, 0));
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{1, 0}));
  gpus.state.set_now(to_us(7));  // 5 s are left of job 0, 6 s of job 1.
  gpus.state.refresh_keys();
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{0, 1}));
}

TEST(State, CopiesAreIndependent) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100)}, options(Costs::free(), Preemption::kOff));
  gpus.state.arrive(0);
  State copy = gpus.state;
  gpus.state.start(gpus.on(0, 4, 0));
  EXPECT_EQ(copy.job_state(0).status, JobStatus::kReady);
  EXPECT_EQ(copy.slice(gpus.id(0)).job, kNone);
  EXPECT_EQ(copy.power().busy(0), 0);
}

TEST(StateDeathTest, RefusesAnIllegalTargetAndAStartOutsideTheTarget) {
  Gpus gpus("A100-40GB", "4-3", {linear_job(100)}, options(Costs::free(), Preemption::kOff));
  gpus.state.arrive(0);
  EXPECT_DEATH(gpus.state.set_target(0, gpus.layout("7") | gpus.layout("4-3")), "is_legal");
  EXPECT_DEATH(gpus.state.start(gpus.on(0, 7, 0)), "target");
}

Job job_of(const char* profile) {
  Job job;
  const SpeedProfile& speeds = Catalogue::shipped().profiles()[*Catalogue::shipped().find(profile)];
  for (int size = 0; size < kSizeCount; ++size)
    job.time_us[size] = std::llround(60e6 / speeds.speed[size]);
  return job;
}

int class_of(const Fleet& fleet, const Job& job) {
  return job_class(fleet, job, fleet.kinds_for(job));
}

TEST(JobClass, OfThePapersFourProfiles) {
  const Fleet fleet = *Fleet::parse("8xA100-40GB");
  EXPECT_EQ(class_of(fleet, job_of("bert-training")), 1) << "7.1 / 10.5 < .8";
  EXPECT_EQ(class_of(fleet, job_of("resnet50-training")), 2) << "8.4 / 9.75 is not, 6 / 9.75 is";
  EXPECT_EQ(class_of(fleet, job_of("bert-inference")), 1) << "4 / 7 < .8";
  EXPECT_EQ(class_of(fleet, job_of("resnet50-inference")), 1) << "12.5 / 18.4 < .8";
}

TEST(JobClass, AMissingSizeHasSpeedZeroAndTheLargestOfTheFleetStandsForSeven) {
  const Fleet a100 = *Fleet::parse("A100-40GB");
  const Fleet a30 = *Fleet::parse("A30");
  Job flat;
  flat.time_us.fill(to_us(10));
  EXPECT_EQ(class_of(a100, flat), 4);
  Job no_small = flat;
  no_small.time_us[size_index(1)] = 0;
  EXPECT_EQ(class_of(a100, no_small), 3);
  Job no_four = flat;
  no_four.time_us[size_index(4)] = 0;
  EXPECT_EQ(class_of(a100, no_four), 1);
  Job no_seven = linear_job(0);
  no_seven.time_us[size_index(7)] = 0;
  EXPECT_EQ(class_of(a100, no_seven), 4) << "nothing is below .8 times a speed of 0";
  EXPECT_EQ(class_of(a30, linear_job(0)), 2) << "4 is the largest; 2 / 4 < .8";
  Job wide = flat;
  wide.memory_mib = 15'000;  // 3g, 4g and 7g only.
  EXPECT_EQ(class_of(a100, wide), 2);
}

// Jobs that were all estimated to take a quarter of what they take. What runs keeps the belief with
// which it started.
TEST(State, CorrectsTheBeliefsOfJobsThatWaitByThoseThatEnded) {
  std::vector<Job> jobs(20, linear_job(1e6));
  for (Job& job : jobs) job.estimate_us = to_us(3);
  State::Options corrects = options(Costs::free(), Preemption::kOff);
  corrects.correct_beliefs = true;
  Gpus gpus("A100-40GB", "7", jobs, corrects);
  State& state = gpus.state;
  for (JobIndex job = 0; job < jobs.size(); ++job) state.arrive(job);
  EXPECT_NEAR(state.job_state(19).estimate, 0.25, 1e-9);
  for (JobIndex job = 0; job < 17; ++job) {
    const TimeUs end = state.start(gpus.on(job, 7, 0));
    const double believed = state.job_state(job).estimate;
    state.set_now(end);
    state.complete(gpus.id(0));
    EXPECT_EQ(state.job_state(job).estimate, believed);
  }
  EXPECT_NEAR(state.job_state(19).estimate, 1, 0.2);
  EXPECT_EQ(gpus.queue(), (std::vector<JobIndex>{17, 18, 19}));
  // By what would be believed now, the estimates of those that ended were nearly right.
  EXPECT_NEAR(state.belief_error(16), 1, 0.2);
  EXPECT_NEAR(state.belief_errors()[16].ratio, 4, 1e-6);
}

}  // namespace
}  // namespace smartmig
