// Moves that no schedule foresaw: random ones keep every invariant, and each does what it says.
#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"
#include "fleet/state_check.h"

namespace smartmig {
namespace {

State::Options live_options() {
  State::Options options;
  options.costs = *Costs::parse("real");
  options.preemption = Preemption::kCheckpoint;
  options.aggregates = true;
  return options;
}

Job live_job(TimeUs now, double whole_s) {
  Job job;
  job.submit_us = now;
  job.deadline_us = now + to_us(600);
  job.kind = JobKind::kTraining;
  for (int size = 0; size < kSizeCount; ++size)
    job.time_us[size] = to_us(whole_s) * 7 / kSizes[size];
  return job;
}

// Two GPUs to which anything may happen.
class LiveMoves {
 public:
  explicit LiveMoves(std::uint64_t seed)
      : fleet_(*Fleet::parse("2xA100-40GB")),
        random_(seed, "live moves"),
        state(fleet_, jobs_, live_options()) {
    for (GpuIndex gpu = 0; gpu < 2; ++gpu)
      state.place_initial(gpu, *parse_layout(fleet_.board(gpu), gpu == 0 ? "4-3" : "2-2-2-1"));
  }

  void move() {
    state.set_now(state.now() + static_cast<TimeUs>(random_.below(30'000'000)));
    const auto gpu = static_cast<GpuIndex>(random_.below(2));
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
        return arrive();
      case 3:
      case 4:
      case 5:
        return start_one();
      case 6:
        return end_run(gpu);
      case 7:
        return end_operation(gpu);
      case 8:
        return random_.below(3) == 0 ? state.close(gpu) : state.open(gpu);
      case 9:
        return state.set_target(gpu, some_layout(gpu));
      case 10:
        return change_slices(gpu);
      case 11:
        return withdraw();
      case 12:
        return stop_one();
      default:
        (void)state.advance(gpu, random_.below(4) == 0);
        while (const auto start = state.next_awaiting(gpu)) (void)state.start(*start);
    }
  }
  bool operating(GpuIndex gpu) const { return state.gpu(gpu).operation_end_us != kNever; }

 private:
  SliceId slice_at(GpuIndex gpu, int slot) const {
    return fleet_.slice_at(gpu, fleet_.board(gpu).slots[static_cast<std::size_t>(slot)].start);
  }
  SlotSet some_layout(GpuIndex gpu, SlotSet kept = 0) {
    const Board& board = fleet_.board(gpu);
    for (int i = 0; i < 8; ++i) {
      const int slot = static_cast<int>(random_.below(board.slots.size()));
      if (fleet_.kind_of_slot(gpu, slot) != kNoKind && can_add(board, kept, slot))
        kept |= SlotSet{1} << slot;
    }
    return kept;
  }
  void arrive() {
    jobs_.push_back(live_job(state.now(), random_.uniform(1, 300)));
    state.extend(jobs_);
    state.arrive(static_cast<JobIndex>(jobs_.size() - 1));
  }
  std::vector<JobIndex> jobs_that(JobStatus status) const {
    std::vector<JobIndex> found;
    for (JobIndex job = 0; job < state.arrived(); ++job) {
      if (state.job_state(job).status == status) found.push_back(job);
    }
    return found;
  }
  // On a slice that is there, or that will be.
  void start_one() {
    const auto ready = jobs_that(JobStatus::kReady);
    if (ready.empty()) return;
    for (GpuIndex gpu = 0; gpu < 2; ++gpu) {
      const GpuState& there = state.gpu(gpu);
      if (!there.up) continue;
      for (SlotSet rest = there.target & ~there.awaited; rest; rest &= rest - 1) {
        const int slot = std::countr_zero(rest);
        const SliceState& slice = state.slice(slice_at(gpu, slot));
        if (slice.job != kNone || random_.below(2) == 0) continue;
        (void)state.start({ready[random_.below(ready.size())], slice_at(gpu, slot),
                           static_cast<std::uint8_t>(slot)});
        return;
      }
    }
  }
  void end_run(GpuIndex gpu) {
    for (SlotSet rest = state.gpu(gpu).present; rest; rest &= rest - 1) {
      const SliceId id = slice_at(gpu, std::countr_zero(rest));
      const JobIndex job = state.slice(id).job;
      if (job == kNone) continue;
      if (state.job_state(job).status == JobStatus::kSaving && random_.below(2) == 0)
        return state.finish_save(id, random_.uniform());
      return random_.below(3) == 0 ? state.abort(id) : state.finish(id);
    }
  }
  void end_operation(GpuIndex gpu) {
    if (!operating(gpu)) return;
    random_.below(3) == 0 ? state.cancel_operation(gpu) : state.finish_operation(gpu);
  }
  void change_slices(GpuIndex gpu) {
    const SlotSet present = state.gpu(gpu).present;
    if (operating(gpu)) return;
    for (SlotSet rest = present; rest; rest &= rest - 1) {
      if (random_.below(3) == 0) state.vanish(gpu, std::countr_zero(rest));
    }
    const SlotSet stays = state.gpu(gpu).present;
    for (SlotSet rest = some_layout(gpu, stays) & ~stays; rest; rest &= rest - 1)
      state.appear(gpu, std::countr_zero(rest));
  }
  void withdraw() {
    for (const JobStatus status : {JobStatus::kPending, JobStatus::kSaving, JobStatus::kReady}) {
      const auto found = jobs_that(status);
      if (!found.empty() && random_.below(2) == 0)
        return state.withdraw(found[random_.below(found.size())]);
    }
  }
  void stop_one() {
    const auto running = jobs_that(JobStatus::kRunning);
    if (!running.empty()) (void)state.stop(running[random_.below(running.size())]);
  }

  Fleet fleet_;
  std::vector<Job> jobs_;
  Random random_;

 public:
  State state;
};

TEST(LiveState, KeepsItsInvariantsWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    LiveMoves moves(seed);
    for (int i = 0; i < 800; ++i) {
      moves.move();
      ASSERT_EQ(broken_invariant(moves.state), "") << "seed " << seed << ", move " << i;
    }
  }
}

class LiveStateMoves : public testing::Test {
 protected:
  LiveStateMoves()
      : fleet_(*Fleet::parse("1xA100-40GB")),
        jobs_{live_job(0, 100)},
        layout_(*parse_layout(fleet_.board(0), "4-3")),
        state_(fleet_, jobs_, live_options()) {
    state_.place_initial(0, layout_);
    state_.arrive(0);
    slot_ = static_cast<std::uint8_t>(std::countr_zero(layout_));
    slice_ = fleet_.slice_at(0, fleet_.board(0).slots[slot_].start);
  }
  void start() { (void)state_.start({0, slice_, slot_}); }

  Fleet fleet_;
  std::vector<Job> jobs_;
  SlotSet layout_;
  State state_;
  std::uint8_t slot_ = 0;
  SliceId slice_ = 0;
};

TEST_F(LiveStateMoves, AVanishedSlicePutsItsJobBackToItsLastCheckpoint) {
  state_.set_left(0, 0.5);
  start();
  state_.set_now(to_us(20));
  state_.vanish(0, slot_);
  EXPECT_EQ(state_.job_state(0).status, JobStatus::kReady);
  EXPECT_EQ(state_.job_state(0).left, 0.5);
  EXPECT_EQ(state_.gpu(0).present, layout_ & ~(SlotSet{1} << slot_));
}

TEST_F(LiveStateMoves, ASaveCountsWhenItIsDoneAndNotBefore) {
  start();
  state_.set_now(to_us(20));
  (void)state_.stop(0);
  State other = state_;
  state_.finish_save(slice_, 0.25);
  EXPECT_EQ(state_.job_state(0).left, 0.25);
  other.abort(slice_);
  EXPECT_EQ(other.job_state(0).left, 1);
}

TEST_F(LiveStateMoves, AClosedGpuKeepsItsJobsAndTakesNoOther) {
  start();
  state_.close(0);
  EXPECT_EQ(state_.job_state(0).status, JobStatus::kRunning);
  EXPECT_EQ(state_.gpus_up(), 0U);
  EXPECT_EQ(state_.free().kinds(), 0U);
  state_.open(0);
  EXPECT_NE(state_.free().kinds(), 0U);
}

TEST_F(LiveStateMoves, AClosedGpuIsCutOnlyToFinishWhatHadBegun) {
  state_.set_target(0, *parse_layout(fleet_.board(0), "7"));
  ASSERT_NE(state_.advance(0), kNever);
  state_.close(0);
  state_.finish_operation(0);
  EXPECT_EQ(state_.advance(0), kNever);
  while (state_.advance(0, true) != kNever) state_.finish_operation(0);
  EXPECT_EQ(state_.gpu(0).present, state_.gpu(0).target);
  EXPECT_EQ(state_.free().kinds(), 0U);
}

TEST_F(LiveStateMoves, AnOperationThatFailsLeavesAllAsBefore) {
  state_.set_target(0, *parse_layout(fleet_.board(0), "7"));
  ASSERT_NE(state_.advance(0), kNever);
  state_.cancel_operation(0);
  EXPECT_EQ(state_.gpu(0).present, layout_);
  state_.set_target(0, layout_);
  EXPECT_EQ(broken_invariant(state_), "");
  start();
  EXPECT_EQ(state_.job_state(0).status, JobStatus::kRunning);
}

}  // namespace
}  // namespace smartmig
