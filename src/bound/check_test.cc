#include "bound/check.h"

#include <gtest/gtest.h>

#include "bound/ascent.h"
#include "bound/bound.h"
#include "bound/linearised.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

JobTable some_jobs(std::uint64_t day, int count) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 8;
  options.count = count;
  options.day = day;
  return generate(options);
}

// The search and the check share no code, so that they agree to rounding says much of both.
TEST(CertifiedValue, IsWhatTheAscentBelievesAndNeverMore) {
  const Costs free = Costs::free();
  const Costs real = Costs::real();
  for (const char* spec : {"2xA100-40GB", "A100-40GB+2xA30", "A100-40GB+H200-141GB"}) {
    const Fleet fleet = *Fleet::parse(spec);
    for (std::uint64_t day = 0; day < 6; ++day) {
      const JobTable table = some_jobs(day, 80);
      BoundInput input;
      input.fleet = &fleet;
      input.jobs = table.jobs;
      input.costs = day % 2 ? &real : &free;
      const auto problem = relax(input);
      ASSERT_TRUE(problem) << problem.error().message;
      for (const Objective objective : {Objective::kTardiness, Objective::kEt}) {
        const Weights weights = weights_of(input, objective);
        AscentOptions options;
        options.rounds = 20;
        const Ascent ascent = ascend(*problem, weights, options);
        const double certified = certified_value(input, weights, ascent.prices, 1);
        EXPECT_LE(certified, ascent.value * (1 + 1e-12));
        EXPECT_NEAR(certified, ascent.value, 1e-7 * ascent.value) << spec << ", day " << day;
      }
    }
  }
}

TEST(CertifiedValue, IsTheSameOnAnyNumberOfThreads) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const Costs costs = Costs::free();
  const JobTable table = some_jobs(1, 200);
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = table.jobs;
  input.costs = &costs;
  AscentOptions options;
  options.rounds = 30;
  options.threads = 1;
  const auto one = certify(input, Objective::kEt, options);
  options.threads = 3;
  const auto three = certify(input, Objective::kEt, options);
  EXPECT_EQ(one->value, three->value);
  EXPECT_EQ(one->prices.value, three->prices.value);
}

TEST(CertifiedValue, OfEnergyIsTheCheapestSlicesAndTheFloor) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(1);
  jobs[0].time_us = {70'000'000, 36'000'000, 30'000'000, 25'000'000, 20'000'000};
  jobs[0].deadline_us = 1;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  const double slice_w = (248.5 - 40) / 7;
  // 70 s on one slice is the least; the run lasts at least 20 s.
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value, 70 * slice_w + 20 * 40, 1e-6);
  Costs off = Costs::free();
  off.power_down_after_us = 0;
  input.costs = &off;
  // No floor, but then every watt is the jobs': 248.5 / 7 is the least for a slice.
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value, 70 * 248.5 / 7, 1e-6);
}

TEST(CertifiedValue, LeavesOutBoardsWhileTheyAreDown) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(1);
  jobs[0].time_us.fill(100'000'000);
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  const double all = certify(input, Objective::kEnergy, {})->value;
  const std::vector<GpuEvent> events = {{10'000'000, 1, true}, {70'000'000, 1, false}};
  input.events = events;
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value, all - 60 * 40, 1e-6);
}

// Stretches of a microsecond cannot be cut, and a price must not come to last for ever by trying.
TEST(CertifiedValue, HoldsForJobsOfMicroseconds) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(80);
  for (Job& job : jobs) job.time_us[0] = 25, job.memory_mib = 8000;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  AscentOptions options;
  options.rounds = 1500;
  const auto bound = certify(input, Objective::kTardiness, options);
  EXPECT_TRUE(check_prices(bound->prices, 2));
  // Sixteen slices of 1g.10gb: five rounds of 25 us.
  EXPECT_LE(bound->value, 75e-6);
}

TEST(LinearisedEnergy, IsThePublishedFormula) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(2);
  jobs[0].time_us = {70'000'000, 36'000'000, 30'000'000, 25'000'000, 20'000'000};
  jobs[1] = jobs[0];
  jobs[1].submit_us = 5'000'000;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  // Ten seconds of a whole GPU each, the end after 15 s.
  EXPECT_NEAR(linearised_energy_j(input), 20 * 248.5 + (2 * 15 - 20) * 40, 1e-6);
}

TEST(Relax, SaysWhichJobNoSliceCanRun) {
  const Fleet fleet = *Fleet::parse("A30");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(2);
  jobs[0].time_us.fill(1'000'000);
  jobs[1].time_us[4] = 1'000'000;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  EXPECT_EQ(certify(input, Objective::kEt, {}).error().message,
            "job 2 of the table runs on no slice of fleet 1xA30: too little memory, or no time");
}

// What the proof uses of the geometry.
TEST(Geometry, NoLegalSetHasMoreSlicesThanTheBoard) {
  for (const Board& board : BoardTable::shipped().boards()) {
    // All slots: base profiles and those with double memory.
    SlotSet usable = 0;
    for (std::size_t s = 0; s < board.slots.size(); ++s) {
      const ProfileKind kind = board.profiles[board.slots[s].profile].kind;
      const bool used = kind == ProfileKind::kBase || kind == ProfileKind::kDoubleMemory;
      usable |= SlotSet{used} << s;
    }
    for (const SlotSet set : legal_sets(board, usable)) {
      int memory = 0;
      for (SlotSet rest = set; rest; rest &= rest - 1)
        memory += board.profiles[board.slots[std::countr_zero(rest)].profile].memory_slices;
      ASSERT_LE(compute_slices(board, set), board.compute_slices) << board.name;
      ASSERT_LE(memory, board.memory_slices) << board.name;
    }
  }
}

TEST(CertifiedValue, OfATraceChargesIdleBoardsToTheLastSubmitOnly) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const Costs costs = Costs::free();
  std::vector<Job> jobs(2);
  for (Job& job : jobs) job.time_us = {0, 0, 0, 0, 100'000'000};
  jobs[1].submit_us = 30'000'000;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  const double above_j = 208.5;  // A whole GPU at work, above idle.
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value, 200 * above_j + 2 * 130 * 40, 1e-6);
  input.trace = TraceWindow{0, 30'000'000};
  // Up to 30 s both boards draw 40 W and job 0 the rest; after that a busy board draws 248.5 W.
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value,
              2 * 30 * 40 + 30 * above_j + (70 + 100) * 248.5, 1e-6);
  EXPECT_NEAR(linearised_energy_j(input), 2 * 30 * 40 + 200 * above_j, 1e-6);
  // Jobs that fit no slice came before the first and after the last.
  input.trace = TraceWindow{-10'000'000, 90'000'000};
  EXPECT_NEAR(certify(input, Objective::kEnergy, {})->value,
              2 * 100 * 40 + (90 + 60) * above_j + (10 + 40) * 248.5, 1e-6);
}

}  // namespace
}  // namespace smartmig
