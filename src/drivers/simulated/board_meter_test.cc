#include "drivers/simulated/board_meter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "fleet/power.h"

namespace smartmig {
namespace {

struct Stay {
  TimeUs on_us;
  TimeUs off_us;
  SliceId slice;
};

// Stays of processes on the seven 1g slices of GPU 0, none of them overlapping on a slice.
std::vector<Stay> random_stays(Random& random) {
  std::vector<Stay> stays;
  for (SliceId slice = 0; slice < 7; ++slice) {
    TimeUs time = 0;
    for (int i = 0; i < 20; ++i) {
      const TimeUs on = time + static_cast<TimeUs>(random.below(4'000'000));
      time = on + 1 + static_cast<TimeUs>(random.below(3'000'000));
      stays.push_back({on, time, slice});
    }
  }
  return stays;
}

std::vector<BoardMeter::Change> changes_of(const std::vector<Stay>& stays, double watts) {
  std::vector<BoardMeter::Change> changes;
  for (const Stay& stay : stays) {
    changes.push_back({.at_us = stay.on_us, .compute = 1, .watts = watts});
    changes.push_back({.at_us = stay.off_us, .compute = -1, .watts = -watts});
  }
  return changes;
}

class BoardMeterTest : public testing::TestWithParam<const char*> {
 protected:
  Fleet fleet_ = *Fleet::parse(GetParam());
  const BoardPower& power_ = fleet_.board(0).power;
  double watts_ = power_.busy_w[1] - power_.busy_w[0];
};

TEST_P(BoardMeterTest, AgreesWithThePowerMeterOfTheSimulator) {
  Random random(1, GetParam());
  std::vector<Stay> stays = random_stays(random);
  auto changes = changes_of(stays, watts_);
  const auto earlier = [](const auto& a, const auto& b) { return a.at_us < b.at_us; };
  std::stable_sort(changes.begin(), changes.end(), earlier);
  BoardMeter meter;
  for (const auto& change : changes) meter.add(power_, change, change.at_us);

  PowerMeter reference(fleet_, Costs::real(), 0);
  reference.begin(0);
  struct Edge {
    TimeUs at_us;
    bool on;
    SliceId slice;
  };
  std::vector<Edge> edges;
  for (const Stay& stay : stays) {
    edges.push_back({stay.on_us, true, stay.slice});
    edges.push_back({stay.off_us, false, stay.slice});
  }
  std::stable_sort(edges.begin(), edges.end(), earlier);
  const KindIndex kind = fleet_.kind_of_slot(0, 0);
  ASSERT_EQ(fleet_.kinds()[kind].compute, 1);
  const Job job;
  for (const Edge& edge : edges) {
    if (edge.on) {
      reference.job_on(edge.at_us, edge.slice, kind, 0, job);
    } else {
      reference.job_off(edge.at_us, edge.slice, kind);
    }
  }
  const TimeUs end = edges.back().at_us + 10 * kSecondUs;
  EXPECT_NEAR(meter.energy_j(power_, end), reference.energy_j(end), 1e-6);
  EXPECT_DOUBLE_EQ(meter.power_w(power_, end), reference.watts_at(0, end));
  EXPECT_DOUBLE_EQ(meter.power_w(power_, edges.back().at_us + 1),
                   reference.watts_at(0, edges.back().at_us + 1));
}

TEST_P(BoardMeterTest, TheRecentPastMayBeToldInAnyOrder) {
  Random random(2, GetParam());
  auto changes = changes_of(random_stays(random), watts_);
  BoardMeter shuffled;
  for (std::size_t i = changes.size(); i-- > 1;)
    std::swap(changes[i], changes[random.below(i + 1)]);
  for (const auto& change : changes) shuffled.add(power_, change, 0);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.at_us < b.at_us; });
  BoardMeter ordered;
  for (const auto& change : changes) ordered.add(power_, change, change.at_us - 500'000);
  const TimeUs end = changes.back().at_us + kSecondUs;
  EXPECT_NEAR(shuffled.energy_j(power_, end), ordered.energy_j(power_, end), 1e-6);
  std::string saved;
  shuffled.save(saved);
  const BoardMeter loaded = BoardMeter::load(nlohmann::json::parse(saved));
  EXPECT_EQ(loaded.energy_j(power_, end), shuffled.energy_j(power_, end));
}

// The second is measured job by job.
INSTANTIATE_TEST_SUITE_P(Boards, BoardMeterTest, testing::Values("A100-40GB", "H200-141GB"));

TEST(BoardMeter, ABoardThatIsDownDrawsNothing) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  const BoardPower& power = fleet.board(0).power;
  BoardMeter meter;
  meter.add(power, {.at_us = 0, .compute = 7, .watts = 100}, 0);
  meter.add(power, {.at_us = 10 * kSecondUs, .kind = BoardMeter::Kind::kDown}, 0);
  EXPECT_EQ(meter.power_w(power, 15 * kSecondUs), 0);
  meter.add(power, {.at_us = 20 * kSecondUs, .kind = BoardMeter::Kind::kUp}, 0);
  EXPECT_NEAR(meter.energy_j(power, 25 * kSecondUs), 10 * power.busy_w[7] + 5 * power.busy_w[0],
              1e-9);
}

}  // namespace
}  // namespace smartmig
