#include "fleet/view.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// True times, progress and ends are not within a policy's reach.
template <class Sees>
concept KnowsTrueTimes = requires(const Sees& sees) {
  sees.job(0).time_us;
};
template <class Sees>
concept KnowsTheErrorOfAnEstimate = requires(const Sees& sees) {
  sees.job(0).estimate_us;
}
|| requires(const Sees& sees) { sees.job_state(0); }
|| requires(const Sees& sees) { sees.job(0).estimate; };
template <class Sees>
concept KnowsProgress = requires(const Sees& sees) {
  sees.left_now(0);
}
|| requires(const Sees& sees) { sees.job(0).left; };
template <class Sees>
concept KnowsEnds = requires(const Sees& sees) {
  sees.slice(0).end_us;
};
template <class Sees>
concept GivesAwayTheState = requires(const Sees& sees) {
  sees.state();
};

static_assert(!KnowsTrueTimes<View> && !KnowsTheErrorOfAnEstimate<View> && !KnowsProgress<View> &&
              !KnowsEnds<View> && !GivesAwayTheState<View>);
static_assert(KnowsTrueTimes<State> && KnowsTheErrorOfAnEstimate<State> && KnowsProgress<State> &&
                  KnowsEnds<State>,
              "these would be found");

// A job of 100 s on every size, believed to take `estimate_s`, on the whole GPU.
class BeliefTest : public testing::Test {
 protected:
  void begin(double estimate_s, Preemption preemption, const Costs& costs = Costs::free()) {
    Job job;
    job.time_us.fill(to_us(100));
    job.deadline_us = to_us(1000);
    job.kind = JobKind::kTraining;
    job.estimate_us = to_us(estimate_s);
    jobs_ = {job};
    State::Options options;
    options.costs = costs;
    options.preemption = preemption;
    options.job_order = JobOrder::kRemaining;
    state_.emplace(fleet_, jobs_, options);
    state_->place_initial(0, *parse_layout(fleet_.board(0), "7"));
    state_->power().begin(0);
    state_->arrive(0);
  }
  View at(double now_s) {
    state_->set_now(to_us(now_s));
    return View(*state_, scratch_);
  }
  void start() { state_->start({0, 0, state_->slice(0).slot}); }

  Fleet fleet_ = *Fleet::parse("A100-40GB");
  std::vector<Job> jobs_;
  std::optional<State> state_;
  ViewScratch scratch_;
};

TEST_F(BeliefTest, WhatIsLeftFollowsTheEstimateAndNotTheProgress) {
  begin(50, Preemption::kOff);
  EXPECT_EQ(at(0).believed_times(0)[kSizeCount - 1], 50e6);
  start();
  EXPECT_EQ(at(0).believed_end(0), to_us(50));
  EXPECT_EQ(at(20).believed_left(0), 0.6);
  EXPECT_EQ(state_->left_now(0), 0.8) << "the truth";
  EXPECT_EQ(at(20).believed_end(0), to_us(50));
  begin(200, Preemption::kOff);
  start();
  EXPECT_EQ(at(20).believed_left(0), 0.9);
  EXPECT_EQ(at(20).believed_end(0), to_us(200));
  EXPECT_EQ(at(20).look_at(0).remaining_us(0), to_us(180));
}

TEST_F(BeliefTest, AJobThatOutlivesItsEstimateIsExpectedToRunForHalfOfWhatItHasRun) {
  begin(50, Preemption::kOff);
  start();
  EXPECT_EQ(at(49).believed_end(0), to_us(50));
  EXPECT_EQ(at(50).believed_end(0), to_us(75));
  EXPECT_EQ(at(60).believed_end(0), to_us(90));
  EXPECT_EQ(at(80).believed_end(0), to_us(120));
}

TEST_F(BeliefTest, WhatIsBelievedSurvivesAMove) {
  begin(50, Preemption::kFree);
  start();
  at(20);
  state_->stop(0);
  EXPECT_EQ(at(30).believed_left(0), 0.6);
  EXPECT_EQ(state_->groups()[0].queue.at(state_->groups()[0].queue.begin()).key, to_us(30));
  start();
  EXPECT_EQ(at(40).believed_left(0), 0.4);
  // It has run for 20 + 40 s.
  EXPECT_NEAR(at(70).believed_left(0), 0.5 * 60 / 50, 1e-12);
  state_->stop(0);
  EXPECT_NEAR(at(75).believed_left(0), 0.6, 1e-12);
  start();
  EXPECT_NEAR(at(85).believed_left(0), 0.5 * 70 / 50, 1e-12) << "the new start forgets nothing";
}

TEST_F(BeliefTest, ASaveKeepsWhatIsBelievedAndALostRunDoesNot) {
  begin(50, Preemption::kCheckpoint, Costs::real());
  EXPECT_FALSE(at(0).has_run(0));
  start();
  EXPECT_TRUE(at(20).has_run(0));
  state_->stop(0);
  EXPECT_EQ(at(22).believed_end(0), to_us(25)) << "of the save";
  EXPECT_EQ(at(22).believed_left(0), 1) << "nothing is saved yet";
  at(25);
  state_->end_save(0);
  EXPECT_EQ(at(25).believed_left(0), 0.6);
  EXPECT_TRUE(at(25).has_run(0));
  start();
  EXPECT_EQ(at(30).believed_end(0), to_us(65)) << "after a restore of 10 s";
  EXPECT_EQ(at(45).believed_left(0), 0.4);
  state_->abort(0);
  EXPECT_EQ(at(45).believed_left(0), 0.6);
}

TEST_F(BeliefTest, AJobThatWasOverdueBeforeItsSaveIsOverdueAfterIt) {
  begin(50, Preemption::kCheckpoint, Costs::real());
  start();
  at(60);
  state_->stop(0);
  at(65);
  state_->end_save(0);
  EXPECT_NEAR(at(65).believed_left(0), 0.5 * 60 / 50, 1e-12);
  start();
  EXPECT_NEAR(at(85).believed_left(0), 0.5 * 70 / 50, 1e-12) << "10 s after its restore";
}

TEST_F(BeliefTest, ARightEstimateIsTheTruth) {
  begin(100, Preemption::kFree);
  start();
  for (const double now_s : {0.0, 12.345678, 33.3, 99.999999}) {
    const View view = at(now_s);
    EXPECT_EQ(view.believed_left(0), state_->left_now(0));
  }
}

}  // namespace
}  // namespace smartmig
