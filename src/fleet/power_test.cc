#include "fleet/power.h"

#include <gtest/gtest.h>

#include <numeric>

#include "workload/catalogue.h"

namespace smartmig {
namespace {

// The A100-40GB's board power by busy compute slices, as published (MODEL: energy).
const std::vector<double> kA100W = {40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5};

TimeUs s(double seconds) { return to_us(seconds); }

// The kind of a base slice of that compute size on the fleet's first board.
KindIndex kind_of(const Fleet& fleet, int compute) {
  for (KindIndex k = 0; k < fleet.kinds().size(); ++k) {
    if (fleet.kinds()[k].compute == compute && fleet.kinds()[k].base) return k;
  }
  return kNoKind;
}

class PowerTest : public testing::Test {
 protected:
  PowerMeter meter(const Costs& costs, std::size_t jobs = 0) const {
    return PowerMeter(fleet_, costs, jobs);
  }
  KindIndex kind(int compute) const { return kind_of(fleet_, compute); }

  Fleet fleet_ = *Fleet::parse("2xA100-40GB");
  Job job_;
};

TEST_F(PowerTest, EachLevelOfTheCurveIsDrawnWhileThatManySlicesAreBusy) {
  PowerMeter power = meter(Costs::free());
  power.begin(s(100));
  double expected = 0;
  for (int busy = 1; busy <= 7; ++busy) {  // One more 1g slice each second, on GPU 1.
    power.job_on(s(99 + busy), fleet_.slice_at(1, static_cast<std::uint32_t>(busy) - 1), kind(1), 0,
                 job_);
    EXPECT_EQ(power.busy(1), busy);
    EXPECT_DOUBLE_EQ(power.watts_at(1, s(99 + busy)), kA100W[busy]);
    expected += kA100W[busy] + kA100W[0];
    EXPECT_NEAR(power.energy_j(s(100 + busy)), expected, 1e-9) << busy << " slices";
  }
}

TEST_F(PowerTest, BoardsDrawIdlePowerBeforeAndAfterTheirJobs) {
  PowerMeter power = meter(Costs::free());
  power.begin(s(10));
  power.job_on(s(20), fleet_.slice_at(0, 0), kind(4), 0, job_);
  power.job_off(s(23), fleet_.slice_at(0, 0), kind(4));
  EXPECT_NEAR(power.energy_j(s(30)), 2 * 20 * 40 + 3 * (243.9 - 40), 1e-9);
  EXPECT_EQ(power.next_change(0, s(23)), kNever);
}

TEST_F(PowerTest, UnderRealTheContextLingersFor1400MsAfterTheLastJob) {
  PowerMeter power = meter(Costs::real());
  power.begin(0);
  EXPECT_EQ(power.watts_at(0, 0), 40) << "no process was ever there";
  power.job_on(s(10), fleet_.slice_at(0, 0), kind(3), 0, job_);
  power.job_off(s(20), fleet_.slice_at(0, 0), kind(3));
  EXPECT_EQ(power.watts_at(0, s(20)), 76);
  EXPECT_EQ(power.watts_at(0, s(21.4) - 1), 76);
  EXPECT_EQ(power.watts_at(0, s(21.4)), 40);
  EXPECT_EQ(power.next_change(0, s(20)), s(21.4));
  EXPECT_EQ(power.next_change(0, s(21.4)), kNever);
  EXPECT_EQ(power.next_change(1, s(20)), kNever) << "the other board had no job";
  EXPECT_NEAR(power.energy_j(s(30)), 30 * 40 + 10 * 40 + 10 * 205.3 + 1.4 * 76 + 8.6 * 40, 1e-9);
  // A job that comes within the linger cuts it short.
  power.job_on(s(21), fleet_.slice_at(0, 0), kind(3), 0, job_);
  EXPECT_NEAR(power.energy_j(s(22)), 22 * 40 + 10 * 40 + 11 * 205.3 + 1 * 76, 1e-9);
}

TEST_F(PowerTest, ABoardWithAnotherJobLeftDoesNotLinger) {
  PowerMeter power = meter(Costs::real());
  power.begin(0);
  power.job_on(0, fleet_.slice_at(0, 0), kind(1), 0, job_);
  power.job_on(0, fleet_.slice_at(0, 1), kind(1), 0, job_);
  power.job_off(s(5), fleet_.slice_at(0, 0), kind(1));
  EXPECT_EQ(power.watts_at(0, s(5)), 119);
  EXPECT_EQ(power.next_change(0, s(5)), kNever);
}

TEST_F(PowerTest, UnderRealAProcessHoldsItsContextWhileItStarts) {
  Costs costs = Costs::real();
  costs.start_us = s(4);
  PowerMeter power = meter(costs, 2);
  power.begin(0);
  power.job_on(s(10), fleet_.slice_at(0, 0), kind(3), 0, job_);
  EXPECT_EQ(power.busy(0), 3) << "the slice is taken";
  EXPECT_EQ(power.watts_at(0, s(10)), 76);
  EXPECT_EQ(power.watts_when_started(0, s(10)), 205.3);
  EXPECT_EQ(power.next_change(0, s(10)), s(14));
  EXPECT_EQ(power.watts_at(0, s(14) - 1), 76);
  EXPECT_EQ(power.watts_at(0, s(14)), 205.3);
  EXPECT_NEAR(power.energy_j(s(12)), 12 * 40 + 10 * 40 + 2 * 76, 1e-9);
  EXPECT_NEAR(power.energy_j(s(20)), 20 * 40 + 10 * 40 + 4 * 76 + 6 * 205.3, 1e-9);
  // Beside a job that works, one that starts adds nothing yet.
  power.job_on(s(18), fleet_.slice_at(0, 4), kind(3), 1, job_);
  EXPECT_EQ(power.watts_at(0, s(18)), 205.3);
  EXPECT_EQ(power.watts_at(0, s(22)), 248.5);
  // One that stops in the middle of its start never draws more.
  power.job_off(s(20), fleet_.slice_at(0, 4), kind(3));
  EXPECT_EQ(power.busy(0), 3);
  EXPECT_EQ(power.next_change(0, s(20)), kNever);
  power.job_off(s(24), fleet_.slice_at(0, 0), kind(3));
  EXPECT_NEAR(power.energy_j(s(24)), 24 * 40 + 10 * 40 + 4 * 76 + 10 * 205.3, 1e-9);
  EXPECT_NEAR(power.job_energy_j()[0], 10 * (205.3 - 40), 1e-9);
  EXPECT_EQ(power.job_energy_j()[1], 0);
}

TEST_F(PowerTest, WithoutIdleLevelsAProcessDrawsAsBusyWhileItStarts) {
  Costs costs = Costs::free();
  costs.start_us = s(4);
  PowerMeter power = meter(costs);
  power.begin(0);
  power.job_on(0, fleet_.slice_at(0, 0), kind(3), 0, job_);
  EXPECT_EQ(power.watts_at(0, 0), 205.3);
}

TEST_F(PowerTest, BoardsThatMaySleepFallToTheirOffPower) {
  Costs costs = Costs::real();
  costs.power_down_after_us = s(60);
  costs.off_w = 5;
  PowerMeter power = meter(costs);
  power.begin(0);
  power.job_on(s(10), fleet_.slice_at(0, 0), kind(7), 0, job_);
  power.job_off(s(20), fleet_.slice_at(0, 0), kind(7));
  EXPECT_EQ(power.next_change(0, s(20)), s(21.4));
  EXPECT_EQ(power.next_change(0, s(21.4)), s(80));
  EXPECT_EQ(power.watts_at(0, s(80) - 1), 40);
  EXPECT_EQ(power.watts_at(0, s(80)), 5);
  const double first = 10 * 40 + 10 * 248.5 + 1.4 * 76 + 58.6 * 40 + 20 * 5;
  const double second = 60 * 40 + 40 * 5;  // Idle from the start.
  EXPECT_NEAR(power.energy_j(s(100)), first + second, 1e-9);
}

TEST_F(PowerTest, PowerDownWithinTheLingerWaitsForItsEnd) {
  Costs costs = Costs::real();
  costs.power_down_after_us = s(1);
  PowerMeter power = meter(costs);
  power.begin(0);
  power.job_on(0, fleet_.slice_at(0, 0), kind(7), 0, job_);
  power.job_off(s(2), fleet_.slice_at(0, 0), kind(7));
  EXPECT_EQ(power.watts_at(0, s(3.2)), 76);
  EXPECT_EQ(power.next_change(0, s(2)), s(3.4));
  EXPECT_EQ(power.watts_at(0, s(3.4)), 0);
  EXPECT_NEAR(power.energy_j(s(10)), 2 * 248.5 + 1.4 * 76 + 1 * 40, 1e-9);
}

TEST_F(PowerTest, AFailedBoardDrawsNothingAndReturnsIdle) {
  PowerMeter power = meter(Costs::real());
  power.begin(0);
  power.job_on(0, fleet_.slice_at(1, 0), kind(7), 0, job_);
  power.job_off(s(10), fleet_.slice_at(1, 0), kind(7));
  power.board_down(s(10), 1);
  EXPECT_EQ(power.watts_at(1, s(10)), 0);
  EXPECT_EQ(power.next_change(1, s(10)), kNever);
  power.board_up(s(40), 1);
  EXPECT_EQ(power.watts_at(1, s(40)), 40) << "no context is left after a failure";
  EXPECT_NEAR(power.energy_j(s(50)), 50 * 40 + 10 * 248.5 + 10 * 40, 1e-9);
}

TEST_F(PowerTest, JobsShareWhatTheirBoardDrawsAboveIdleByComputeSlices) {
  PowerMeter power = meter(Costs::free(), 3);
  power.begin(0);
  power.job_on(0, fleet_.slice_at(0, 0), kind(4), 0, job_);
  power.job_on(s(10), fleet_.slice_at(0, 4), kind(2), 1, job_);  // Six slices busy.
  power.job_off(s(20), fleet_.slice_at(0, 0), kind(4));
  power.job_on(s(20), fleet_.slice_at(1, 0), kind(1), 2, job_);
  power.job_off(s(30), fleet_.slice_at(0, 4), kind(2));
  power.job_off(s(30), fleet_.slice_at(1, 0), kind(1));
  const auto shares = power.job_energy_j();
  EXPECT_NEAR(shares[0], 10 * (243.9 - 40) + 10 * (248.5 - 40) * 4 / 6, 1e-9);
  EXPECT_NEAR(shares[1], 10 * (248.5 - 40) * 2 / 6 + 10 * (160 - 40), 1e-9);
  EXPECT_NEAR(shares[2], 10 * (119 - 40), 1e-9);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  EXPECT_NEAR(sum, power.energy_j(s(30)) - 2 * 30 * 40, 1e-9)
      << "all that is above idle, and nothing twice";
}

TEST(AdditivePower, AnH200DrawsTheSumOfItsJobsUpToTheCap) {
  const Fleet fleet = *Fleet::parse("H200-141GB");
  const std::uint16_t profile = *Catalogue::shipped().find("h200-train-resnet50-b64");
  Job job;
  job.profile = profile;
  PowerMeter power(fleet, Costs::real(), 2);
  power.begin(0);
  EXPECT_EQ(power.watts_at(0, 0), 80.7);
  power.job_on(0, fleet.slice_at(0, 0), kind_of(fleet, 4), 0, job);
  EXPECT_DOUBLE_EQ(power.watts_at(0, 0), 125.2 + 236.3);
  power.job_on(s(10), fleet.slice_at(0, 4), kind_of(fleet, 3), 1, job);
  EXPECT_DOUBLE_EQ(power.watts_at(0, s(10)), 125.2 + 236.3 + 221.9);
  power.job_off(s(20), fleet.slice_at(0, 0), kind_of(fleet, 4));
  power.job_off(s(20), fleet.slice_at(0, 4), kind_of(fleet, 3));
  EXPECT_NEAR(power.energy_j(s(30)), 10 * 361.5 + 10 * 583.4 + 1.4 * 125.2 + 8.6 * 80.7, 1e-9);
  EXPECT_NEAR(power.job_energy_j()[0] + power.job_energy_j()[1],
              10 * 361.5 + 10 * 583.4 - 20 * 80.7, 1e-9);

  // Seven slices of the hungriest job would draw 697.1 W.
  Job hungry;
  hungry.profile = *Catalogue::shipped().find("h200-train-gpt124m-b4-s1024");
  PowerMeter full(fleet, Costs::real(), 0);
  full.begin(0);
  for (std::uint32_t i = 0; i < 3; ++i)
    full.job_on(0, fleet.slice_at(0, 2 * i), kind_of(fleet, 2), i, hungry);
  EXPECT_DOUBLE_EQ(full.watts_at(0, 0), 125.2 + 3 * 144.7);
  full.job_off(0, fleet.slice_at(0, 0), kind_of(fleet, 2));
  full.job_off(0, fleet.slice_at(0, 2), kind_of(fleet, 2));
  full.job_off(0, fleet.slice_at(0, 4), kind_of(fleet, 2));
  for (std::uint32_t i = 0; i < 7; ++i)
    full.job_on(0, fleet.slice_at(0, i), kind_of(fleet, 1), i, hungry);
  EXPECT_DOUBLE_EQ(full.watts_at(0, 0), 690) << "125.2 + 7 * 81.7 is above the cap";
  EXPECT_NEAR(full.energy_j(s(2)), 2 * 690, 1e-9);
}

TEST(AdditivePower, AJobNobodyMeasuredAddsTheTablesWattsAtItsSize) {
  const Fleet fleet = *Fleet::parse("H200-141GB");
  const auto& table = fleet.board(0).power.busy_w;
  PowerMeter power(fleet, Costs::real(), 0);
  power.begin(0);
  power.job_on(0, fleet.slice_at(0, 0), kind_of(fleet, 2), 0, Job());
  EXPECT_DOUBLE_EQ(power.watts_at(0, 0), 125.2 + table[2] - table[0]);
  PowerMeter by_table(fleet, Costs::free(), 0);
  by_table.begin(0);
  by_table.job_on(0, fleet.slice_at(0, 0), kind_of(fleet, 2), 0, Job());
  EXPECT_DOUBLE_EQ(by_table.watts_at(0, 0), table[2])
      << "without real power the table alone counts";
}

TEST_F(PowerTest, IdleTailsBeginWithTheLastJobAndEndAtTheLevelsOfTheBoard) {
  Costs costs = Costs::real();
  costs.power_down_after_us = s(60);
  costs.off_w = 5;
  PowerMeter power = meter(costs);
  power.begin(0, true);
  power.job_on(s(10), fleet_.slice_at(0, 0), kind(7), 0, job_);
  power.job_off(s(20), fleet_.slice_at(0, 0), kind(7));
  power.board_down(s(50), 0);
  power.board_up(s(70), 0);
  std::string text;
  for (const IdlePiece& piece : power.idle_tails(s(15), s(140)))
    text += fmt::format("{} {:g}-{:g} {:g} W; ", piece.gpu, to_s(piece.begin_us),
                        to_s(piece.end_us), piece.watts);
  EXPECT_EQ(text,
            "0 20-21.4 76 W; 0 21.4-50 40 W; 0 50-70 0 W; 0 70-130 40 W; 0 130-140 5 W; "
            "1 15-60 40 W; 1 60-140 5 W; ");
  // A job that comes and goes at one instant was never there; one that stays ends the tail.
  power.job_on(s(150), fleet_.slice_at(0, 0), kind(7), 0, job_);
  power.job_off(s(150), fleet_.slice_at(0, 0), kind(7));
  EXPECT_EQ(power.idle_tails(s(15), s(160)).front().begin_us, s(20));
  power.job_on(s(160), fleet_.slice_at(0, 0), kind(7), 0, job_);
  EXPECT_EQ(power.idle_tails(s(15), s(170)).front().begin_us, s(20)) << "not accounted so far";
  power.job_off(s(180), fleet_.slice_at(0, 0), kind(7));
  EXPECT_EQ(power.idle_tails(s(15), s(190)).front().begin_us, s(180));
}

}  // namespace
}  // namespace smartmig
