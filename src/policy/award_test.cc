#include "policy/award.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "policy/packing.h"
#include "policy/situation.h"

namespace smartmig {
namespace {

class AwardTest : public testing::Test {
 protected:
  void begin(double backlog = 0, bool moves_cost = false, double energy = 1) {
    award_.begin(knobs_, backlog, std::log(0.3), 0, energy, moves_cost);
  }
  void set(Knob knob, double value) { knobs_[static_cast<std::size_t>(knob)] = value; }
  // A late job with these speeds and minutes of work.
  Candidate job(JobIndex index, const std::array<double, kSizeCount>& speed, double work,
                double weight) {
    Candidate candidate;
    candidate.job = index;
    candidate.speed = speed;
    for (int size = 0; size < kSizeCount; ++size)
      candidate.minutes[size] = speed[size] > 0 ? work / speed[size] : 0;
    candidate.work = work;
    candidate.slack = -1;
    candidate.weight = weight;
    return candidate;
  }
  static int slices(const std::vector<Candidate>& candidates) {
    int sum = 0;
    for (const Candidate& candidate : candidates) {
      if (candidate.size >= 0) sum += kSizes[candidate.size];
    }
    return sum;
  }
  static double value(const std::vector<Candidate>& candidates) {
    double sum = 0;
    for (const Candidate& candidate : candidates) {
      if (candidate.size >= 0) sum += candidate.weight * candidate.speed[candidate.size];
    }
    return sum;
  }

  static constexpr std::array<double, kSizeCount> kLinear = {1, 2, 3, 4, 7};
  static constexpr std::array<double, kSizeCount> kFlat = {1, 1, 1, 1, 1};
  static constexpr std::array<double, kSizeCount> kBert = {1, 4.1 / 2.2, 5.8 / 2.2, 7.1 / 2.2,
                                                           10.5 / 2.2};
  Knobs knobs_ = first_knobs().free_moves;
  Award award_;
};

TEST_F(AwardTest, GivesALinearJobAllThereIs) {
  begin();
  std::vector<Candidate> jobs = {job(0, kLinear, 3, 1)};
  EXPECT_EQ(award_.give(jobs, 7), 0);
  EXPECT_EQ(kSizes[jobs[0].size], 7);
}

TEST_F(AwardTest, GivesAJobThatGainsNothingOneSlice) {
  begin();
  std::vector<Candidate> jobs = {job(0, kFlat, 3, 1)};
  EXPECT_EQ(award_.give(jobs, 7), 6);
  EXPECT_EQ(kSizes[jobs[0].size], 1);
}

TEST_F(AwardTest, ShortensAStepToWhatIsLeft) {
  begin();
  std::vector<Candidate> jobs = {job(0, kLinear, 3, 1)};
  EXPECT_EQ(award_.give(jobs, 6), 2);  // There is no size 5 or 6.
  EXPECT_EQ(kSizes[jobs[0].size], 4);
}

TEST_F(AwardTest, LeavesAJobWhereItIsOnTime) {
  begin();
  Candidate lax = job(0, kBert, 10, 1);
  lax.slack = 7;  // On time from size 2 on.
  std::vector<Candidate> jobs = {lax};
  award_.give(jobs, 7);
  EXPECT_EQ(kSizes[jobs[0].size], 2);
}

TEST_F(AwardTest, SpreadsSlicesInDeepOverload) {
  std::vector<Candidate> jobs;
  for (JobIndex i = 0; i < 14; ++i) jobs.push_back(job(i, kBert, 50, 1 + 0.02 * i));
  begin(3);
  award_.give(jobs, 14);
  for (const Candidate& candidate : jobs) EXPECT_EQ(candidate.size, 0) << candidate.job;
}

TEST_F(AwardTest, FavoursWhatARunningJobHoldsWhereMovesCost) {
  set(Knob::kHold, 0.5);
  begin(0, true);
  std::vector<Candidate> jobs = {job(0, kLinear, 3, 1), job(1, kLinear, 3, 1.2)};
  jobs[0].held = 4;
  award_.give(jobs, 7);
  EXPECT_EQ(jobs[0].size, 4);
  EXPECT_EQ(jobs[1].size, -1);
}

// With steepness 1, and unless a step at the end did not fit, the award maximises the sum of weight
// times speed: against every choice of sizes that uses as many slices.
TEST_F(AwardTest, IsTheBestOfAllChoicesOfSizes) {
  set(Knob::kSteepness, 0);
  set(Knob::kSteepnessBacklog, 0);
  set(Knob::kLeast, -20);
  begin();
  Random random(3, "award");
  int exact = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Candidate> jobs;
    for (JobIndex i = 0; i < 4; ++i) {
      const double power = random.uniform(0.3, 1);
      std::array<double, kSizeCount> speed{};
      for (int size = 0; size < kSizeCount; ++size) speed[size] = std::pow(kSizes[size], power);
      jobs.push_back(job(i, speed, 10, random.uniform(0.5, 2)));
    }
    const int total = 1 + static_cast<int>(random.below(28));
    const int used = total - award_.give(jobs, total);
    ASSERT_EQ(slices(jobs), used);
    double worst_given = 1e9;
    double best_refused = 0;
    for (const Candidate& candidate : jobs) {
      if (candidate.size >= 0)
        worst_given =
            std::min(worst_given, award_.density(candidate, candidate.size - 1, candidate.size));
      if (candidate.size + 1 < kSizeCount)
        best_refused =
            std::max(best_refused, award_.density(candidate, candidate.size, candidate.size + 1));
    }
    if (best_refused > worst_given) continue;
    ++exact;
    double best = 0;
    for (int code = 0; code < 6 * 6 * 6 * 6; ++code) {
      int slices = 0;
      double sum = 0;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 6) {
        const int size = rest % 6 - 1;
        if (size < 0) continue;
        slices += kSizes[size];
        sum += jobs[i].weight * jobs[i].speed[size];
      }
      if (slices <= used) best = std::max(best, sum);
    }
    EXPECT_NEAR(value(jobs), best, 1e-9) << "round " << round;
  }
  EXPECT_GT(exact, 150);
}

// What give() does, without a heap: at each turn the step that is densest now, of equals the first
// job's.
std::vector<int> given_by_turns(const Award& award, const std::vector<Candidate>& jobs, int slices,
                                int gpus, double least) {
  std::vector<int> sizes(jobs.size(), -1);
  std::vector<bool> out(jobs.size());
  const auto width = [](int size) { return size < 0 ? 0 : kSizes[size]; };
  // The larger size with the most speed for each slice more.
  const auto next_of = [&](std::size_t i) {
    int next = -1;
    double best = 0;
    for (int to = sizes[i] + 1; to < kSizeCount; ++to) {
      const double speed = sizes[i] < 0 ? 0 : jobs[i].speed[sizes[i]];
      const double gain = (jobs[i].speed[to] - speed) / (kSizes[to] - width(sizes[i]));
      if (gain > best * (1 + 1e-9)) best = gain, next = to;
    }
    return next;
  };
  const auto can_be = [&](std::size_t i, int to) {
    if (jobs[i].speed[to] == 0 || width(to) - width(sizes[i]) > slices) return false;
    std::array<int, kSizeCount> counts{};
    ++counts[to];
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (j != i && sizes[j] >= 0) ++counts[sizes[j]];
    }
    return gpus == 0 || a100s_can_hold(counts, gpus);
  };
  while (slices > 0) {
    std::size_t turn = jobs.size();
    double densest = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const int next = next_of(i);
      if (out[i] || next < 0) continue;
      const double density = award.density(jobs[i], sizes[i], next);
      if (turn == jobs.size() || density > densest) densest = density, turn = i;
    }
    if (turn == jobs.size()) break;
    int to = next_of(turn);
    while (to > sizes[turn] && !can_be(turn, to)) --to;
    if (to == sizes[turn] || (sizes[turn] >= 0 && densest < least)) {
      out[turn] = true;
      continue;
    }
    slices -= width(to) - width(sizes[turn]);
    sizes[turn] = to;
  }
  return sizes;
}

TEST_F(AwardTest, TakesStepsInTheOrderOfTheirDensities) {
  Random random(7, "award order");
  for (int round = 0; round < 3000; ++round) {
    const double least = random.uniform(-3, 0);
    set(Knob::kLeast, least);
    set(Knob::kSteepness, random.uniform(-1, 1));
    set(Knob::kHold, random.uniform(0, 1));
    begin(0, random.below(2) == 0);
    std::vector<Candidate> jobs;
    const JobIndex count = 1 + static_cast<JobIndex>(random.below(12));
    for (JobIndex i = 0; i < count; ++i) {
      std::array<double, kSizeCount> speed{};  // In no order: steps must skip what gains nothing.
      for (double& each : speed) each = random.below(5) == 0 ? 0 : random.uniform(1, 8);
      jobs.push_back(job(i, speed, 10, random.uniform(0.1, 2)));
      jobs.back().slack = random.uniform(-5, 10);
      jobs.back().held = static_cast<std::int8_t>(static_cast<int>(random.below(6)) - 1);
    }
    const int gpus = static_cast<int>(random.below(4));
    const int slices = gpus > 0 ? 7 * gpus : static_cast<int>(random.below(40));
    const auto expected = given_by_turns(award_, jobs, slices, gpus, std::exp(least));
    const int left = award_.give(jobs, slices, gpus);
    ASSERT_GE(left, 0) << "round " << round;
    ASSERT_EQ(AwardTest::slices(jobs) + left, slices) << "round " << round;
    std::array<int, kSizeCount> counts{};
    for (JobIndex i = 0; i < count; ++i) {
      ASSERT_EQ(jobs[i].size, expected[i]) << "round " << round << ", job " << i;
      if (jobs[i].size >= 0) ++counts[jobs[i].size];
    }
    if (gpus > 0) {
      ASSERT_TRUE(a100s_can_hold(counts, gpus)) << "round " << round;
    }
  }
}

TEST_F(AwardTest, DensityIsWeightTimesTheSpeedOfEachSliceMore) {
  set(Knob::kSteepness, std::log(2));
  set(Knob::kSteepnessBacklog, 0);
  begin();
  const Candidate candidate = job(0, {1, 2, 2.5, 4, 11}, 10, 3);
  EXPECT_NEAR(award_.density(candidate, -1, 0), 3, 1e-12);
  EXPECT_NEAR(award_.density(candidate, 0, 1), 3, 1e-12);
  EXPECT_NEAR(award_.density(candidate, 1, 2), 3 * 0.25, 1e-12) << "less than linear: squared";
  EXPECT_NEAR(award_.density(candidate, 3, 4), 3 * 7.0 / 3, 1e-12) << "more: as it is";
}

TEST_F(AwardTest, AStepOfAJobThatIsOnTimeCountsLess) {
  set(Knob::kOnTime, std::log(0.1));
  set(Knob::kMargin, std::log(0.5));
  Candidate candidate = job(0, kLinear, 10, 1);
  const auto factor = [&](double slack) {
    candidate.slack = slack;
    return award_.density(candidate, 0, 1);
  };
  begin(0, false);
  EXPECT_NEAR(factor(10), 0.1, 1e-12) << "it ends just then";
  EXPECT_NEAR(factor(9.99), 1, 1e-12);
  EXPECT_NEAR(award_.density(candidate, -1, 0), 1, 1e-12) << "without a slice it never is";
  begin(0, true);  // It must be early by half its time, and by what making a slice takes.
  EXPECT_NEAR(factor(15.02), 0.1, 1e-12);
  EXPECT_NEAR(factor(15), 1, 1e-12);
}

TEST_F(AwardTest, HoldCountsUpToWhatIsHeldAndOnlyWhereMovesCost) {
  set(Knob::kHold, std::log(3));
  Candidate candidate = job(0, kLinear, 10, 1);
  candidate.held = 2;
  begin(0, true);
  EXPECT_NEAR(award_.density(candidate, -1, 0), 3, 1e-12);
  EXPECT_NEAR(award_.density(candidate, 1, 2), 3, 1e-12);
  EXPECT_NEAR(award_.density(candidate, 2, 3), 1, 1e-12);
  begin(0, false);
  EXPECT_NEAR(award_.density(candidate, -1, 0), 1, 1e-12);
}

TEST_F(AwardTest, GivesTheFirstSizeAtAnyValueButNoLargerOneBelowTheLeast) {
  set(Knob::kLeast, std::log(1.5));
  begin();
  std::vector<Candidate> jobs = {job(0, kLinear, 3, 1), job(1, kLinear, 3, 2)};
  award_.give(jobs, 9);
  EXPECT_EQ(kSizes[jobs[0].size], 1);
  EXPECT_EQ(kSizes[jobs[1].size], 7);
}

TEST_F(AwardTest, AsksLessOfALargerSizeWhereEnergyIsWorthLess) {
  set(Knob::kLeast, std::log(1.5));
  std::vector<Candidate> jobs = {job(0, kLinear, 3, 1)};
  begin(0, false, 0.1);
  award_.give(jobs, 7);
  EXPECT_EQ(kSizes[jobs[0].size], 7);
}

TEST(AwardWeights, CountTrainingByItsFactorAndNothingThatRunsNowhere) {
  const std::array<double, kSizeCount> times = {700, 350, 234, 175, 100};
  Situation on_fleet("2xA100-40GB", "7*2",
                     {make_job(times, 90), make_job(times, 90, JobKind::kTraining)}, "prices",
                     Preemption::kFree);
  on_fleet.arrive(0, 1);
  Knobs knobs = first_knobs().free_moves;
  knobs[static_cast<std::size_t>(Knob::kTraining)] = 0.25;
  knobs[static_cast<std::size_t>(Knob::kTrainingBacklog)] = 0.5;
  Award award;
  award.begin(knobs, 0.5, std::log(0.3), 0, 1, false);
  const KindSet kinds = on_fleet.fleet.kinds_for(on_fleet.jobs[0]);
  Candidate inference;
  Candidate training;
  ASSERT_TRUE(award.weigh(on_fleet.view(), 0, kinds, -1, inference));
  ASSERT_TRUE(award.weigh(on_fleet.view(), 1, kinds, 3, training));
  EXPECT_NEAR(training.weight / inference.weight, std::exp(0.25 + 0.5 * 0.5), 1e-12);
  EXPECT_EQ(training.held, 3);
  EXPECT_FALSE(award.weigh(on_fleet.view(), 0, 0, -1, inference));
}

TEST(AwardWeights, CountTardinessOfShortJobsAndLateOnesMore) {
  Situation on_fleet("2xA100-40GB", "7*2",
                     {make_job({700, 350, 234, 175, 100}, 90),      // Late whatever happens.
                      make_job({700, 350, 234, 175, 100}, 10'000),  // All the time in the world.
                      make_job({70, 35, 23, 17, 10}, 9)},           // Late and short.
                     "prices", Preemption::kFree);
  on_fleet.arrive(0, 2);
  Award award;
  award.begin(first_knobs().free_moves, 0, std::log(0.3), 0, 1, false);
  std::array<Candidate, 3> jobs;
  for (JobIndex i = 0; i < 3; ++i) {
    ASSERT_TRUE(award.weigh(on_fleet.view(), i, on_fleet.view().groups()[0].kinds, -1, jobs[i]));
  }
  EXPECT_GT(jobs[0].weight, jobs[1].weight);
  EXPECT_GT(jobs[2].weight, jobs[0].weight);
  EXPECT_NEAR(jobs[0].work, 700.0 / 60, 1e-9);
  EXPECT_NEAR(jobs[0].minutes[4], 100.0 / 60, 1e-9);
  EXPECT_NEAR(jobs[0].speed[4], 7, 1e-9);
}

}  // namespace
}  // namespace smartmig
