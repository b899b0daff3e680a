#include "bound/makespan.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"

namespace smartmig {
namespace {

// By the theorem of the least cut: the end is the latest over all sets of jobs of the time at which
// machines, at most one for each released job of the set, can have done the set's work.
double makespan_by_sets(const std::vector<MachineJob>& jobs, int machines) {
  double end_s = 0;
  for (std::uint32_t set = 1; set < 1u << jobs.size(); ++set) {
    double left_s = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) left_s += set >> j & 1 ? jobs[j].work_s : 0;
    int released = 0;
    double now_s = 0;
    for (std::size_t j = 0; j <= jobs.size(); ++j) {
      const double until_s = j < jobs.size() ? jobs[j].release_s : HUGE_VAL;
      const double speed = std::min(released, machines);
      if (speed > 0 && left_s <= speed * (until_s - now_s)) {
        end_s = std::max(end_s, now_s + left_s / speed);
        break;
      }
      if (speed > 0) left_s -= speed * (until_s - now_s);
      now_s = until_s;
      if (j < jobs.size()) released += set >> j & 1;
    }
  }
  return end_s;
}

TEST(LeastMakespan, AgreesWithTheLatestOverAllSetsOfJobs) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random(1, "makespan", i);
    std::vector<MachineJob> jobs;
    double now_s = 0;
    const std::size_t count = 1 + random.below(9);
    for (std::size_t j = 0; j < count; ++j) {
      if (j > 0 && random.below(3) > 0) now_s += random.uniform(0, 5);
      // Whole numbers at times, so that levels meet exactly.
      const double work_s =
          random.below(2) ? 1 + static_cast<double>(random.below(6)) : random.uniform(0.1, 12);
      jobs.push_back({now_s, work_s});
    }
    const int machines = 1 + static_cast<int>(random.below(4));
    ASSERT_NEAR(least_makespan_s(jobs, machines), makespan_by_sets(jobs, machines), 1e-7)
        << "case " << i << ", " << count << " jobs on " << machines;
  }
}

TEST(LeastMakespan, SharesMachinesBetweenJobsThatAreLeftEqual) {
  const std::vector<MachineJob> jobs = {{0, 2}, {0, 2}, {0, 2}};
  EXPECT_NEAR(least_makespan_s(jobs, 2), 3, 1e-9) << "McNaughton: all machines busy to the end";
  const std::vector<MachineJob> late = {{0, 2}, {0, 2}, {0, 2}, {3, 5}};
  EXPECT_NEAR(least_makespan_s(late, 2), 8, 1e-9) << "the last job alone";
}

TEST(EarliestEnd, IsNeverAfterTheLeastMakespanAndTheSlowestFastestJob) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const Costs costs = Costs::free();
  for (std::uint64_t i = 0; i < 500; ++i) {
    Random random(1, "earliest end", i);
    std::vector<Job> jobs;
    TimeUs now = 0;
    for (std::size_t j = 0; j < 1 + random.below(12); ++j) {
      now += to_us(random.uniform(0, 100));
      Job job;
      job.submit_us = now;
      job.deadline_us = now;
      const double first_s = random.uniform(10, 1000);
      // Flat jobs use a compute slice best on 1g, so that the two bounds differ.
      for (int s = 0; s < kSizeCount; ++s) job.time_us[s] = to_us(first_s / std::sqrt(kSizes[s]));
      jobs.push_back(job);
    }
    BoundInput input;
    input.fleet = &fleet;
    input.jobs = jobs;
    input.costs = &costs;
    double alone_s = 0;
    for (const Job& job : jobs)
      alone_s =
          std::max(alone_s, to_s(job.submit_us - jobs[0].submit_us + job.time_us[kSizeCount - 1]));
    const double makespan_s = least_makespan_s(linearise(input), 2);
    ASSERT_LE(earliest_end_s(input), std::max(makespan_s, alone_s) + 1e-6);
    ASSERT_GE(earliest_end_s(input), alone_s - 1e-6);
  }
}

TEST(Linearise, TakesTheMostEfficientSliceTimesTheWholeBoard) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  Job job;
  job.time_us = {70'000'000, 36'000'000, 30'000'000, 20'000'000, 12'000'000};
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = std::span(&job, 1);
  Costs costs;
  input.costs = &costs;
  EXPECT_DOUBLE_EQ(linearise(input)[0].work_s, 10) << "70 s on 1g";
  job.time_us[0] = 0;
  EXPECT_NEAR(linearise(input)[0].work_s, 72.0 / 7, 1e-9) << "36 s on 2g";
  costs.start_us = to_us(3);
  EXPECT_EQ(linearise(input)[0].release_s, 3) << "its process starts first";
  EXPECT_DOUBLE_EQ(earliest_end_s(input), 15) << "3 s, and 12 s on 7g";
}

}  // namespace
}  // namespace smartmig
