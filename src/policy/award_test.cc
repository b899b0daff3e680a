#include "policy/award.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "policy/situation.h"

namespace smartmig {
namespace {

class AwardTest : public testing::Test {
 protected:
  void begin(double backlog = 0, bool moves_cost = false) {
    award_.begin(knobs_, backlog, std::log(0.3), 0, moves_cost);
  }
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
  knobs_[static_cast<std::size_t>(Knob::kHold)] = 0.5;
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
  knobs_[static_cast<std::size_t>(Knob::kSteepness)] = 0;
  knobs_[static_cast<std::size_t>(Knob::kSteepnessBacklog)] = 0;
  knobs_[static_cast<std::size_t>(Knob::kLeast)] = -20;
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

TEST(AwardWeights, CountTardinessOfShortJobsAndLateOnesMore) {
  Situation on_fleet("2xA100-40GB", "7*2",
                     {make_job({700, 350, 234, 175, 100}, 90),      // Late whatever happens.
                      make_job({700, 350, 234, 175, 100}, 10'000),  // All the time in the world.
                      make_job({70, 35, 23, 17, 10}, 9)},           // Late and short.
                     "smartmig", Preemption::kFree);
  on_fleet.arrive(0, 2);
  Award award;
  award.begin(first_knobs().free_moves, 0, std::log(0.3), 0, false);
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
