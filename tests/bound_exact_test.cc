// The certified bound against the exact optimum of tiny instances, and the ascent against Clp.
#include <gtest/gtest.h>

#include <ClpSimplex.hpp>
#include <cstdio>

#include "base/random.h"
#include "bound/bound.h"
#include "bound/tardiness_program.h"
#include "exact_schedule.h"
#include "random_case.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

struct Tiny {
  Fleet fleet;
  std::vector<Job> jobs;
};

Tiny tiny(std::uint64_t i) {
  Random random(7, "tiny instance", i);
  const std::string fleets[] = {"A100-40GB", "A30", "A100-40GB", "2xA30", "A100-40GB+A30"};
  Tiny instance{Fleet::parse(fleets[i % 5]).value(), {}};
  const std::size_t jobs = instance.fleet.gpu_count() > 1 ? 2 : 1 + random.below(3);
  TimeUs now = 0;
  for (std::size_t j = 0; j < jobs; ++j) {
    if (j > 0) now += static_cast<TimeUs>(random.below(3)) * to_us(random.uniform(0, 200));
    Job job;
    job.submit_us = now;
    // From linear to flat.
    const double first_s = random.uniform(20, 600);
    const double power = random.uniform(0, 1);
    for (int s = 0; s < kSizeCount; ++s)
      job.time_us[s] = to_us(first_s / std::pow(kSizes[s], power));
    if (random.below(6) == 0) job.time_us[random.below(2)] = 0;
    const double shortest_s = to_s(job.time_us[kSizeCount - 1]);
    job.deadline_us = now + to_us(random.uniform(0.5, 3) * shortest_s);
    instance.jobs.push_back(job);
  }
  return instance;
}

void expect_below_optimum(int cases, bool traces) {
  const Costs costs = Costs::free();
  double above = 0;
  int counted = 0;
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    const Tiny instance = tiny(static_cast<std::uint64_t>(i));
    BoundInput input;
    input.fleet = &instance.fleet;
    input.jobs = instance.jobs;
    input.costs = &costs;
    if (traces) input.trace = {instance.jobs.front().submit_us, instance.jobs.back().submit_us};
    const double weights[] = {2e-7, 2e-5, 2e-3};
    input.energy_weight = weights[i % 3];
    AscentOptions options;
    options.threads = 1;
    options.rounds = 100;
    for (const Objective objective : {Objective::kEnergy, Objective::kTardiness, Objective::kEt}) {
      const auto bound = certify(input, objective, options);
      ASSERT_TRUE(bound) << bound.error().message;
      const double optimum = exact_optimum(input, weights_of(input, objective));
      ASSERT_LT(optimum, HUGE_VAL);
      // Clp's own tolerance.
      ASSERT_LE(bound->value, optimum * (1 + 1e-6) + 1e-7) << to_string(objective);
      if (objective != Objective::kEt) continue;
      above += 1 - bound->value / optimum;
      ++counted;
    }
  }
  std::printf("%d tiny %s: on average the certified ET bound is %.2f %% below the optimum\n",
              counted, traces ? "traces" : "instances", 100 * above / counted);
}

TEST(Bound, NeverExceedsTheOptimumOfTinyInstances) {
  const int cases = case_count(1000);
  expect_below_optimum(cases, false);
}

TEST(Bound, NeverExceedsTheOptimumOfTinyTraces) {
  const int cases = case_count(1000);
  expect_below_optimum(cases, true);
}

TEST(TardinessProgram, IsWithinItsStepBelowTheOptimumOfLinearJobs) {
  const Costs costs = Costs::free();
  const Fleet fleet = Fleet::parse("A100-40GB").value();
  for (std::uint64_t i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    Random random(9, "program", i);
    std::vector<Job> jobs(2 + random.below(2));
    TimeUs now = 0;
    for (Job& job : jobs) {
      job.submit_us = now;
      const double first_s = random.uniform(100, 900);
      for (int s = 0; s < kSizeCount; ++s) job.time_us[s] = to_us(first_s / kSizes[s]);
      job.deadline_us = now + to_us(random.uniform(0.5, 1.5) * first_s / 7);
      now += to_us(random.uniform(0, 60));
    }
    BoundInput input;
    input.fleet = &fleet;
    input.jobs = jobs;
    input.costs = &costs;
    ProgramOptions options;
    options.step_s = 5;
    options.gap = 0;
    const ProgramBound program = solve_tardiness_program(input, options);
    ASSERT_TRUE(program.solved);
    const double optimum = exact_optimum(input, weights_of(input, Objective::kTardiness));
    ASSERT_LE(program.avg_tardiness_s, optimum + 1e-5);
    ASSERT_GE(program.avg_tardiness_s, optimum - program.step_s - 1e-5);
  }
}

TEST(TardinessProgram, LeavesLargeWorkloadsAlone) {
  const Costs costs = Costs::free();
  const Fleet fleet = Fleet::parse("A100-40GB").value();
  std::vector<Job> jobs(61);
  for (Job& job : jobs) job.time_us.fill(1'000'000);
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  const ProgramBound program = solve_tardiness_program(input, {});
  EXPECT_FALSE(program.solved);
  EXPECT_EQ(program.avg_tardiness_s, 0);
}

// The relaxation as one linear program: each job's weight z on ending in a piece of time, how long
// it runs in which way before that end, and when in the piece it ends, all times z. Its optimum is
// what the ascent climbs to.
double relaxation_by_clp(const RelaxedProblem& problem, const Weights& weights,
                         const std::vector<double>& edges_s) {
  constexpr double kLong_s = 1e5;  // In place of for ever.
  const auto stretches = static_cast<int>(edges_s.size());
  const auto resources = static_cast<int>(problem.capacity.size());
  ClpSimplex model;
  model.setLogLevel(0);
  model.resize(resources * stretches, 0);
  const auto end_of = [&](int stretch) {
    return stretch + 1 < stretches ? edges_s[stretch + 1] : edges_s.back() + kLong_s;
  };
  for (int r = 0; r < resources; ++r) {
    for (int i = 0; i < stretches; ++i) {
      const double there = problem.capacity[r] * (end_of(i) - edges_s[i]);
      model.setRowBounds(r * stretches + i, -COIN_DBL_MAX,
                         i + 1 < stretches ? there : COIN_DBL_MAX);
    }
  }
  const auto add_row = [&](double low, double high) {
    model.addRow(0, nullptr, nullptr, low, high);
    return model.numberRows() - 1;
  };
  const auto add_column = [&](const std::vector<std::pair<int, double>>& entries, double cost) {
    std::vector<int> index;
    std::vector<double> value;
    for (const auto& [row, x] : entries) index.push_back(row), value.push_back(x);
    model.addColumn(static_cast<int>(index.size()), index.data(), value.data(), 0, COIN_DBL_MAX,
                    cost);
  };
  for (const RelaxedJob& job : problem.jobs) {
    struct Piece {
      double begin_s, end_s;
      int stretch;
    };
    std::vector<Piece> pieces;
    for (int i = 0; i < stretches; ++i) {
      double from = std::max(job.release_s, edges_s[i]);
      if (from >= end_of(i)) continue;
      if (job.deadline_s > from && job.deadline_s < end_of(i)) {
        pieces.push_back({from, job.deadline_s, i});
        from = job.deadline_s;
      }
      pieces.push_back({from, end_of(i), i});
    }
    const int once = add_row(1, 1);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const bool late = pieces[k].begin_s >= job.deadline_s;
      const int work = add_row(0, COIN_DBL_MAX);
      const int within = add_row(-COIN_DBL_MAX, 0);
      std::vector<std::pair<int, double>> z = {
          {once, 1}, {work, -1}, {within, -(pieces[k].end_s - pieces[k].begin_s)}};
      std::vector<int> room;
      for (std::size_t i = 0; i <= k; ++i) {
        room.push_back(add_row(-COIN_DBL_MAX, 0));
        if (i < k) z.push_back({room[i], -(pieces[i].end_s - pieces[i].begin_s)});
      }
      add_column(z, late ? weights.per_late_s * (pieces[k].begin_s - job.deadline_s) : 0);
      add_column({{within, 1}, {room[k], -1}}, late ? weights.per_late_s : 0);
      for (std::size_t i = 0; i <= k; ++i) {
        for (const RunOption& option : problem.options_of(job)) {
          add_column({{work, option.speed},
                      {room[i], 1},
                      {2 * option.board * stretches + pieces[i].stretch, option.compute},
                      {(2 * option.board + 1) * stretches + pieces[i].stretch, option.memory}},
                     weights.per_joule * option.energy_w);
        }
      }
    }
  }
  model.primal();
  EXPECT_EQ(model.status(), 0);
  return model.objectiveValue() + weights.per_joule * problem.floor_j;
}

TEST(Ascent, ComesNearTheOptimumOfTheFullLinearProgram) {
  const Costs costs = Costs::free();
  double worst = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const Fleet fleet = Fleet::parse(i % 2 ? "A100-40GB" : "A100-40GB+A30").value();
    GeneratorOptions generator;
    generator.fixed_rate = true;
    generator.rate = 4;
    generator.count = 8;
    generator.day = i;
    const JobTable table = generate(generator);
    BoundInput input;
    input.fleet = &fleet;
    input.jobs = table.jobs;
    input.costs = &costs;
    const auto problem = relax(input);
    ASSERT_TRUE(problem);
    const Weights weights = weights_of(input, Objective::kEt);
    AscentOptions options;
    options.threads = 1;
    options.finest = 10;
    options.rounds = 3000;
    const Ascent ascent = ascend(*problem, weights, options);
    const double optimum = relaxation_by_clp(*problem, weights, ascent.prices.edges_s);
    ASSERT_LE(ascent.value, optimum * (1 + 1e-6)) << "weak duality";
    ASSERT_GE(ascent.value, optimum * 0.99);
    worst = std::max(worst, 1 - ascent.value / optimum);
  }
  std::printf("the ascent ends at most %.3f %% below the optimum of the linear program\n",
              100 * worst);
}

}  // namespace
}  // namespace smartmig
