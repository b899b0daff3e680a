#include "drivers/simulated/simulated_fleet.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

using Kind = FleetChange::Kind;
using Event = FleetEvent::Kind;

constexpr TimeUs kS = kSecondUs;

// A machine of two A100-40GB at a speed of 100: an order may take effect 25 s back.
class SimulatedFleetTest : public testing::Test {
 protected:
  SimulatedFleetTest() { EXPECT_TRUE(machine_.apply({.kind = Kind::kSpeed, .speed = 100})); }

  // The slot of a base profile of that compute size at that first memory slice.
  int slot(int compute, int start) const {
    const Board& board = machine_.fleet().board(0);
    for (std::size_t i = 0; i < board.slots.size(); ++i) {
      if (board.slots[i].profile == board.base_profile(compute) && board.slots[i].start == start)
        return static_cast<int>(i);
    }
    ADD_FAILURE() << "no slot";
    return -1;
  }
  std::string made(int slot, GpuIndex gpu = 0) {
    const auto done =
        machine_.apply({.kind = Kind::kCreate, .gpu = gpu, .slot = slot, .at_us = machine_.now()});
    EXPECT_TRUE(done) << done.error().message;
    machine_.advance_to(done->at_us);
    return done->uuid;
  }
  DriverResult<SimulatedFleet::Done> start(const std::string& run, const std::string& slice,
                                           TimeUs full_us, TimeUs at_us,
                                           const RunBehaviour& behaviour = {}) {
    FleetChange change{.kind = Kind::kStart, .at_us = at_us, .behaviour = behaviour};
    change.order.run = run;
    change.order.slice_uuid = slice;
    change.order.full_us = full_us;
    change.order.checkpoint_us = 3 * kS;
    return machine_.apply(change);
  }
  DriverResult<SimulatedFleet::Done> tell(Kind kind, const std::string& run, TimeUs at_us) {
    FleetChange change{.kind = kind, .at_us = at_us};
    change.order.run = run;
    return machine_.apply(change);
  }
  DriverCode code_of(const DriverResult<SimulatedFleet::Done>& answer) {
    EXPECT_FALSE(answer);
    return answer ? DriverCode::kUnknown : answer.error().code;
  }
  const FleetEvent& last() const { return machine_.events().back(); }

  SimulatedFleet machine_{*Fleet::parse("2xA100-40GB"), "test"};
};

TEST_F(SimulatedFleetTest, ASliceTakesTheBoardsTimeToMakeAndToDestroy) {
  machine_.advance_to(100 * kS);
  const auto made = machine_.apply({.kind = Kind::kCreate, .slot = slot(3, 0), .at_us = 90 * kS});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->at_us, 90 * kS + 200'000);  // 0.20 s for a 3g.
  EXPECT_TRUE(machine_.has_slice(0, made->uuid));
  machine_.advance_to(200 * kS);
  const auto gone = machine_.apply({.kind = Kind::kDestroy, .uuid = made->uuid, .at_us = 200 * kS});
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->at_us, 200 * kS + 210'000);
  EXPECT_TRUE(machine_.read(0)->changing);
  EXPECT_TRUE(machine_.has_slice(0, made->uuid));
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kCreate, .slot = slot(1, 6), .at_us = 0})),
            DriverCode::kInUse);
  machine_.advance_to(gone->at_us);
  EXPECT_FALSE(machine_.has_slice(0, made->uuid));
  EXPECT_FALSE(machine_.read(0)->changing);
}

TEST_F(SimulatedFleetTest, RefusesPlacementsThatAreTakenAndSlotsThatAreNot) {
  made(slot(4, 0));
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kCreate, .slot = slot(2, 2)})),
            DriverCode::kInsufficientResources);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kCreate, .slot = 63})),
            DriverCode::kNotSupported);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kCreate, .gpu = 2})), DriverCode::kNotFound);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kDestroy, .uuid = "MIG-none"})),
            DriverCode::kNotFound);
}

TEST_F(SimulatedFleetTest, UuidsAreNeverUsedTwice) {
  const std::string first = made(slot(7, 0));
  const auto gone = machine_.apply({.kind = Kind::kDestroy, .uuid = first, .at_us = 0});
  machine_.advance_to(gone->at_us);
  EXPECT_NE(made(slot(7, 0)), first);
  EXPECT_NE(machine_.gpu_uuid(0), machine_.gpu_uuid(1));
}

TEST_F(SimulatedFleetTest, AStartTakesEffectWhenItsCauseHappened) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(100 * kS);
  ASSERT_TRUE(start("1.1", slice, 50 * kS, 80 * kS));
  EXPECT_EQ(machine_.read(0)->slices[0].begin_us, 80 * kS);
  machine_.advance_to(1000 * kS);
  ASSERT_EQ(machine_.events().size(), 1u);
  EXPECT_EQ(last().kind, Event::kEnded);
  EXPECT_EQ(last().at_us, 130 * kS);
}

TEST_F(SimulatedFleetTest, AnOrderFromBeforeTheGraceTakesEffectAtItsEdge) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(100 * kS);
  EXPECT_EQ(start("1.1", slice, 50 * kS, 10 * kS)->at_us, 75 * kS);
}

TEST_F(SimulatedFleetTest, AStartIsNotBeforeTheEndOfTheRunThatWasThere) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(10 * kS);
  ASSERT_TRUE(start("1.1", slice, 5 * kS, 10 * kS));
  machine_.advance_to(20 * kS);
  EXPECT_EQ(start("2.1", slice, kS, 12 * kS)->at_us, 15 * kS);
}

TEST_F(SimulatedFleetTest, AShortRunToldLateEndsNoEarlierThanWhatWasToldBefore) {
  const std::string one = made(slot(1, 0));
  const std::string two = made(slot(1, 1));
  machine_.advance_to(10 * kS);
  ASSERT_TRUE(start("1.1", one, 5 * kS, 10 * kS));
  machine_.advance_to(20 * kS);
  ASSERT_TRUE(start("2.1", two, kS, 11 * kS));  // By itself it would end at 12 s.
  ASSERT_EQ(machine_.events().size(), 2u);
  EXPECT_EQ(last().run, "2.1");
  EXPECT_EQ(last().at_us, 15 * kS);
}

TEST_F(SimulatedFleetTest, AStopSavesWhatWasLeftWhenItWasMeant) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(100 * kS);
  ASSERT_TRUE(start("1.1", slice, 100 * kS, 100 * kS));
  machine_.advance_to(140 * kS);
  ASSERT_TRUE(tell(Kind::kStop, "1.1", 139 * kS));
  EXPECT_EQ(machine_.read(0)->slices[0].phase, RunPhase::kSaving);
  machine_.advance_to(150 * kS);
  EXPECT_EQ(last().kind, Event::kSaved);
  EXPECT_EQ(last().at_us, 142 * kS);
  EXPECT_DOUBLE_EQ(last().left, 0.61);
  EXPECT_EQ(machine_.read(0)->slices[0].phase, RunPhase::kIdle);
}

TEST_F(SimulatedFleetTest, AStopDoesNotUndoAnEnd) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(100 * kS);
  ASSERT_TRUE(start("1.1", slice, 5 * kS, 100 * kS));
  machine_.advance_to(110 * kS);
  EXPECT_EQ(code_of(tell(Kind::kStop, "1.1", 102 * kS)), DriverCode::kNotFound);
  EXPECT_EQ(last().kind, Event::kEnded);
  EXPECT_EQ(last().at_us, 105 * kS);
}

TEST_F(SimulatedFleetTest, AKillKeepsNothing) {
  const std::string slice = made(slot(7, 0));
  machine_.advance_to(100 * kS);
  ASSERT_TRUE(start("1.1", slice, 50 * kS, 100 * kS));
  machine_.advance_to(120 * kS);
  ASSERT_TRUE(tell(Kind::kKill, "1.1", 120 * kS));
  EXPECT_EQ(last().kind, Event::kKilled);
  EXPECT_EQ(last().left, 1);
  EXPECT_EQ(machine_.next_due(), kNever);
}

TEST_F(SimulatedFleetTest, ANameRunsOnce) {
  const std::string slice = made(slot(7, 0));
  ASSERT_TRUE(start("1.1", slice, kS, 0));
  EXPECT_EQ(code_of(start("2.1", slice, kS, 0)), DriverCode::kInUse);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kDestroy, .uuid = slice})), DriverCode::kInUse);
  machine_.advance_to(10 * kS);
  EXPECT_EQ(code_of(start("1.1", slice, kS, 0)), DriverCode::kAlreadyRan);
  EXPECT_EQ(code_of(start("3.1", "MIG-none", kS, 0)), DriverCode::kNotFound);
}

TEST_F(SimulatedFleetTest, RunsFailAndOverrunAsTold) {
  const std::string one = made(slot(1, 0));
  const std::string two = made(slot(1, 1));
  machine_.advance_to(10 * kS);
  ASSERT_TRUE(start("1.1", one, 100 * kS, 10 * kS, {.fail_at = 0.25}));
  ASSERT_TRUE(start("2.1", two, 10 * kS, 10 * kS, {.overrun = 3}));
  machine_.advance_to(100 * kS);
  ASSERT_EQ(machine_.events().size(), 2u);
  EXPECT_EQ(machine_.events()[0].kind, Event::kFailed);
  EXPECT_EQ(machine_.events()[0].at_us, 35 * kS);
  EXPECT_EQ(machine_.events()[1].kind, Event::kEnded);
  EXPECT_EQ(machine_.events()[1].at_us, 40 * kS);
}

TEST_F(SimulatedFleetTest, RunsThatWillNotStopDoSoLaterOrNeverAndKillWorksOrNot) {
  const std::string one = made(slot(1, 0));
  const std::string two = made(slot(1, 1));
  machine_.advance_to(10 * kS);
  ASSERT_TRUE(start("1.1", one, 100 * kS, 10 * kS, {.ignore_stop_us = 20 * kS}));
  ASSERT_TRUE(
      start("2.1", two, 1000 * kS, 10 * kS, {.ignore_stop_us = kNever, .ignore_kill = true}));
  for (const char* run : {"1.1", "2.1"}) ASSERT_TRUE(tell(Kind::kStop, run, 10 * kS));
  ASSERT_TRUE(tell(Kind::kKill, "2.1", 10 * kS));
  machine_.advance_to(500 * kS);
  ASSERT_EQ(machine_.events().size(), 1u);
  EXPECT_EQ(last().run, "1.1");
  EXPECT_EQ(last().at_us, 33 * kS);
  EXPECT_DOUBLE_EQ(last().left, 0.8);
  EXPECT_EQ(machine_.read(0)->slices[1].phase, RunPhase::kRunning);
}

TEST_F(SimulatedFleetTest, AResetTakesSlicesAndRunsWithoutAWordOfTheirs) {
  const std::string slice = made(slot(7, 0));
  ASSERT_TRUE(start("1.1", slice, 100 * kS, 0));
  ASSERT_TRUE(machine_.apply({.kind = Kind::kReboot, .gpu = 0}));
  EXPECT_TRUE(machine_.read(0)->slices.empty());
  machine_.advance_to(200 * kS);
  ASSERT_EQ(machine_.events().size(), 1u);
  EXPECT_EQ(last().kind, Event::kChanged);
  EXPECT_EQ(machine_.ledger().after(0, 1)[0]->outcome, RunOutcome::kLost);
  EXPECT_NE(made(slot(7, 0)), slice);
}

TEST_F(SimulatedFleetTest, ALostGpuAnswersNothingElseUntilItIsBack) {
  made(slot(7, 0));
  ASSERT_TRUE(machine_.apply({.kind = Kind::kLose, .gpu = 0}));
  EXPECT_TRUE(machine_.read(0)->lost);
  EXPECT_EQ(machine_.read(0)->power_w, 0);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kCreate, .slot = 0})), DriverCode::kGpuLost);
  EXPECT_FALSE(machine_.read(1)->lost);
  ASSERT_TRUE(machine_.apply({.kind = Kind::kReturn, .gpu = 0}));
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kReturn, .gpu = 0})), DriverCode::kNotFound);
  made(slot(7, 0));
}

TEST_F(SimulatedFleetTest, OthersMakeUseAndDestroySlices) {
  const auto made = machine_.apply({.kind = Kind::kForeignCreate, .slot = slot(3, 4)});
  ASSERT_TRUE(made);
  ASSERT_TRUE(machine_.apply({.kind = Kind::kForeignRun, .uuid = made->uuid}));
  EXPECT_EQ(machine_.read(0)->slices[0].phase, RunPhase::kRunning);
  EXPECT_EQ(machine_.read(0)->slices[0].run, "");
  EXPECT_GT(machine_.read(0)->power_w, machine_.read(1)->power_w);
  EXPECT_EQ(code_of(start("1.1", made->uuid, kS, 0)), DriverCode::kInUse);
  EXPECT_EQ(code_of(machine_.apply({.kind = Kind::kForeignDestroy, .uuid = made->uuid})),
            DriverCode::kInUse);
  ASSERT_TRUE(machine_.apply({.kind = Kind::kForeignStop, .uuid = made->uuid}));
  ASSERT_TRUE(machine_.apply({.kind = Kind::kForeignDestroy, .uuid = made->uuid}));
  EXPECT_TRUE(machine_.read(0)->slices.empty());
  EXPECT_EQ(machine_.events().size(), 4u);
}

TEST_F(SimulatedFleetTest, AnOperationThatNobodyWaitsForTellsOfItsEnd) {
  ASSERT_TRUE(machine_.apply({.kind = Kind::kCreate, .slot = slot(7, 0)}));
  ASSERT_TRUE(machine_.apply({.kind = Kind::kAbandon, .gpu = 0}));
  machine_.advance_to(10 * kS);
  ASSERT_EQ(machine_.events().size(), 1u);
  EXPECT_EQ(last().kind, Event::kChanged);
}

TEST_F(SimulatedFleetTest, EventsAreForgottenWhenTold) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(machine_.apply({.kind = Kind::kReboot, .gpu = 0}));
  machine_.forget_events(2);
  ASSERT_EQ(machine_.events().size(), 1u);
  EXPECT_EQ(machine_.events()[0].number, 3u);
  EXPECT_EQ(machine_.last_event(), 3u);
}

TEST(RunLedger, ForgetsTheOldestThatEndedAndNoneThatRuns) {
  RunLedger ledger;
  ledger.started("first", 0, "MIG-1", 0);
  for (std::size_t i = 0; i <= RunLedger::kKept; ++i) {
    ledger.started(std::to_string(i), 0, "MIG-1", 0);
    ledger.ended(std::to_string(i), 1, RunOutcome::kEnded);
  }
  EXPECT_TRUE(ledger.has("first"));
  EXPECT_FALSE(ledger.has("0"));
  EXPECT_TRUE(ledger.has("1"));
  EXPECT_EQ(ledger.after(0, 1'000'000).size(), RunLedger::kKept + 1);
}

}  // namespace
}  // namespace smartmig
