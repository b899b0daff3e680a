#include "control/steps.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>

#include "mig/layout.h"

namespace smartmig {
namespace {

// A GPU whose calls answer as they are told to, one error after another; then they work.
class ScriptedDriver : public Driver {
 public:
  struct Fault {
    DriverCode code;
    bool done = false;  // The work is done all the same.
  };
  std::deque<Fault> creates, destroys, starts, reads;
  bool resets = false;  // With the next slice that is destroyed all others go.
  GpuReading gpu;
  std::vector<FleetEvent> events;
  int made = 0;
  std::vector<std::string> destroyed;

  void put(std::uint8_t slot, const std::string& uuid, const std::string& run = "") {
    const auto phase = run.empty() ? RunPhase::kIdle : RunPhase::kRunning;
    gpu.slices.push_back({uuid, slot, phase, run, 0});
  }
  DriverResult<FleetDescription> claim(const std::string&) override { return FleetDescription{}; }
  DriverResult<GpuReading> read(GpuIndex) override {
    if (auto error = next(reads)) return tl::unexpected(*error);
    return gpu;
  }
  DriverResult<std::string> create(GpuIndex, int slot, TimeUs) override {
    const bool does = creates.empty() || creates.front().done;
    const std::string uuid = "made-" + std::to_string(++made);
    if (does) put(static_cast<std::uint8_t>(slot), uuid);
    if (auto error = next(creates)) return tl::unexpected(*error);
    return uuid;
  }
  DriverResult<void> destroy(GpuIndex, const std::string& uuid, TimeUs) override {
    destroyed.push_back(uuid);
    if (destroys.empty() || destroys.front().done)
      std::erase_if(gpu.slices,
                    [&](const SliceReading& slice) { return resets || slice.uuid == uuid; });
    if (auto error = next(destroys)) return tl::unexpected(*error);
    return {};
  }
  DriverResult<void> start(GpuIndex, const RunOrder& order, TimeUs) override {
    if (starts.empty() || starts.front().done) {
      for (SliceReading& slice : gpu.slices) {
        if (slice.uuid == order.slice_uuid) slice.run = order.run, slice.phase = RunPhase::kRunning;
      }
    }
    if (auto error = next(starts)) return tl::unexpected(*error);
    return {};
  }
  DriverResult<void> stop(GpuIndex, const std::string&, TimeUs) override { return {}; }
  DriverResult<void> kill(GpuIndex, const std::string&, TimeUs) override { return {}; }
  DriverResult<std::vector<FleetEvent>> events_after(std::uint64_t, int) override { return events; }

 private:
  static std::optional<DriverError> next(std::deque<Fault>& faults) {
    if (faults.empty()) return std::nullopt;
    const DriverCode code = faults.front().code;
    faults.pop_front();
    return DriverError{code, "told to fail"};
  }
};

const Board& a100() { return **BoardTable::shipped().find("A100-40GB"); }
SlotSet slots(const char* layout) { return *parse_layout(a100(), layout); }
std::uint8_t only_slot(const char* layout) {
  return static_cast<std::uint8_t>(std::countr_zero(slots(layout)));
}

using Kind = StepOutcome::Kind;

TEST(Steps, ACallThatWorkedAndSaidOtherwiseCountsAsDone) {
  ScriptedDriver driver;
  driver.creates = {{DriverCode::kNoPermission, true}};
  const StepOutcome outcome = make_slice(driver, 0, only_slot("7"), {}, 0);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.uuid, "made-1");
}

TEST(Steps, AFaultThatPassesIsWaitedOutAndOneThatDoesNotIsTold) {
  ScriptedDriver driver;
  driver.creates = {{DriverCode::kTimeout}, {DriverCode::kUnknown}};
  EXPECT_EQ(make_slice(driver, 0, only_slot("7"), {}, 0).kind, Kind::kDone);
  ScriptedDriver other;
  other.creates = {{DriverCode::kNotSupported}};
  const StepOutcome outcome = make_slice(other, 0, only_slot("7"), {}, 0);
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_EQ(outcome.error.code, DriverCode::kNotSupported);
}

TEST(Steps, NothingIsDoneToAGpuThatSomebodyElseHasChanged) {
  ScriptedDriver driver;
  driver.put(only_slot("7"), "theirs");
  EXPECT_EQ(make_slice(driver, 0, only_slot("3"), {}, 0).kind, Kind::kChanged);
  EXPECT_EQ(driver.made, 0);
}

TEST(Steps, ABusySliceIsNotDestroyed) {
  ScriptedDriver driver;
  driver.put(only_slot("7"), "ours", "1.1");
  const KnownSlices known = {{only_slot("7"), "ours"}};
  EXPECT_EQ(destroy_slice(driver, 0, only_slot("7"), known, 0).kind, Kind::kChanged);
  EXPECT_EQ(driver.gpu.slices.size(), 1U);
}

// Its run may have ended without our having heard of it.
TEST(Steps, AMoveLeavesAnIdleSliceAloneThatHasAJobByOurBooks) {
  ScriptedDriver driver;
  driver.put(only_slot("4"), "ours");
  const OurSlices ours{{"ours"}, slots("7") | slots("4"), slots("4")};
  const StepOutcome outcome = move_to(driver, 0, a100(), slots("7"), ours, 0);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(driver.destroyed.empty());
  EXPECT_EQ(slots_of(*outcome.reading), slots("4"));
}

TEST(Steps, TheWayBackLeavesWhatIsBusyOrNotOurs) {
  ScriptedDriver driver;
  driver.put(only_slot("4"), "ours");
  driver.put(static_cast<std::uint8_t>(std::countr_zero(slots("4-3") & ~slots("4"))), "theirs");
  const StepOutcome outcome =
      move_to(driver, 0, a100(), slots("7"), {{"ours"}, slots("7") | slots("4")}, 0);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  ASSERT_EQ(driver.gpu.slices.size(), 1U);
  EXPECT_EQ(driver.gpu.slices[0].uuid, "theirs");
}

TEST(Steps, AMoveGoesOnWhereAResetHasDoneAPartOfIt) {
  ScriptedDriver driver;
  driver.resets = true;
  OurSlices ours;
  int count = 0;
  for (SlotSet rest = slots("4-2-1"); rest; rest &= rest - 1) {
    const std::string uuid = "ours-" + std::to_string(++count);
    driver.put(static_cast<std::uint8_t>(std::countr_zero(rest)), uuid);
    ours.uuids.insert(uuid);
  }
  const StepOutcome outcome = move_to(driver, 0, a100(), slots("7"), ours, 0);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(driver.destroyed.size(), 1U);
  EXPECT_EQ(slots_of(driver.gpu), slots("7"));
}

TEST(Steps, AMoveTellsWhatItHasMadeAlsoWhereItFails) {
  ScriptedDriver driver;
  driver.put(only_slot("7"), "ours");
  driver.creates = {{DriverCode::kNoPermission, true}, {DriverCode::kNoPermission}};
  const StepOutcome outcome = move_to(driver, 0, a100(), slots("4-3"), {{"ours"}, 0}, 0);
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_EQ(outcome.made.size(), 1U);
}

TEST(Steps, AStartIsUnclearWhereNobodyCanLookAndNeverMadeTwice) {
  RunOrder order;
  order.run = "1.1";
  order.slice_uuid = "ours";
  ScriptedDriver driver;
  driver.put(only_slot("7"), "ours");
  driver.starts = {{DriverCode::kNoPermission, true}};
  driver.reads = {{DriverCode::kGpuLost}};
  EXPECT_EQ(start_run(driver, 0, order, 0, 0).kind, Kind::kUnclear);

  ScriptedDriver lies;
  lies.put(only_slot("7"), "ours");
  lies.starts = {{DriverCode::kNoPermission, true}};
  EXPECT_EQ(start_run(lies, 0, order, 0, 0).kind, Kind::kDone);

  ScriptedDriver over;  // It began, and is over already.
  over.put(only_slot("7"), "ours");
  over.starts = {{DriverCode::kTimeout}};
  over.events.emplace_back().run = "1.1";
  EXPECT_EQ(start_run(over, 0, order, 0, 0).kind, Kind::kDone);

  ScriptedDriver never;
  never.put(only_slot("7"), "ours");
  never.starts = {{DriverCode::kTimeout}};
  EXPECT_EQ(start_run(never, 0, order, 0, 0).kind, Kind::kFailed);
}

}  // namespace
}  // namespace smartmig
