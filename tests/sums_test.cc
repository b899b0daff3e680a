// What View sums up as events happen, against the reference, which counts everything anew at each
// instant; and a run in parts, or on an engine used before, against a plain one.
#include <gtest/gtest.h>

#include "foresight/named_policies.h"
#include "reference_setup.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

EngineOptions options_with_sums(const RandomCase& random) {
  EngineOptions options = engine_options(random);
  options.aggregates = true;
  options.tardiness = true;
  return options;
}

void expect_sums(Engine& engine, const reference::Sums& expected) {
  State& state = engine.state();
  ASSERT_EQ(state.now(), expected.at_us);
  ASSERT_EQ(state.tardiness_us(), expected.tardiness_us);
  const Aggregates& sums = state.aggregates();
  std::size_t ready = 0;
  for (int h = 0; h < kHistogramCount; ++h) {
    const BinCounts& counts = sums.counts(static_cast<Histogram>(h));
    for (int b = 0; b < kBinCount; ++b) {
      ASSERT_EQ(static_cast<int>(counts[b]), expected.bins[h][b])
          << "histogram " << h << " bin " << b << " at " << state.now();
      ready += counts[b];
    }
  }
  ASSERT_EQ(sums.ready() * kHistogramCount, ready);
  const Fleet& fleet = state.fleet();
  for (std::size_t b = 0; b < fleet.boards().size(); ++b) {
    const Board& board = *fleet.boards()[b];
    const LayoutNumbers& numbers = sums.layouts(b);
    for (int n = 0; n < numbers.size(); ++n) {
      const auto found = expected.layouts.find({board.name, layout_name(board, numbers.layout(n))});
      const int count = found == expected.layouts.end() ? 0 : found->second;
      ASSERT_EQ(static_cast<int>(sums.gpus_in(b, n)), count)
          << layout_name(board, numbers.layout(n));
      int listed = 0;
      for (GpuIndex gpu = 0; (gpu = sums.next_gpu(b, n, gpu)) != kNone; ++gpu) {
        ASSERT_EQ(numbers.number_of(state.gpu(gpu).target), n);
        ++listed;
      }
      ASSERT_EQ(listed, count);
    }
  }
}

TEST(Sums, AgreeWithTheReferenceAtEveryInstant) {
  const int cases = case_count(4000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const RandomCase random = random_case(19, static_cast<std::uint64_t>(i));
    SCOPED_TRACE(fmt::format("case {}\n{}", i, random.describe()));
    const Fleet fleet = Fleet::parse(random.fleet).value();
    const EngineOptions options = options_with_sums(random);
    Engine engine(fleet, random.jobs, make_named_policy(random.policy, fleet).value(), options);
    reference::Setup setup = to_setup(random, fleet, options.costs);
    setup.sum_up = true;
    const reference::Outcome expected = reference::run(setup);
    for (const reference::Sums& sums : expected.sums) {
      bool more = engine.step();
      // Where a policy stops a job whose save takes no time, the engine calls it again a
      // microsecond later, which changes nothing and is no instant of the reference.
      while (more && engine.state().now() < sums.at_us) more = engine.step();
      if (!more || HasFatalFailure()) break;
      expect_sums(engine, sums);
    }
    ASSERT_EQ(engine.completed(), random.jobs.jobs.size());
  }
}

TEST(Sums, DoNotChangeARun) {
  for (int i = 0; i < case_count(2000) && !HasFailure(); ++i) {
    const RandomCase random = random_case(23, static_cast<std::uint64_t>(i));
    SCOPED_TRACE(fmt::format("case {}\n{}", i, random.describe()));
    const Fleet fleet = Fleet::parse(random.fleet).value();
    const Policy policy = make_named_policy(random.policy, fleet).value();
    EngineOptions options = options_with_sums(random);
    Engine with(fleet, random.jobs, policy, options);
    options.aggregates = options.tardiness = false;
    Engine without(fleet, random.jobs, policy, options);
    while (with.step()) {
    }
    while (without.step()) {
    }
    ASSERT_TRUE(std::ranges::equal(with.finish_us(), without.finish_us()));
  }
}

TEST(Restart, GivesTheRunThatANewEngineGives) {
  for (int i = 0; i < case_count(2000) && !HasFailure(); ++i) {
    // The second table on an engine that has run the first, part of the way at times.
    const RandomCase first = random_case(29, static_cast<std::uint64_t>(i));
    RandomCase second = random_case(31, static_cast<std::uint64_t>(i));
    SCOPED_TRACE(fmt::format("case {}\n{}{}", i, first.describe(), second.describe()));
    const Fleet fleet = Fleet::parse(first.fleet).value();
    for (Job& job : second.jobs.jobs)
      job = {.submit_us = job.submit_us,
             .deadline_us = job.deadline_us,
             .time_us = {to_us(70), to_us(50), to_us(30), to_us(20), to_us(10)},
             .kind = job.kind};
    EngineOptions options = options_with_sums(first);
    options.seed = 5;
    PolicyOptions seeded;
    seeded.seed = 5;
    Engine fresh(fleet, second.jobs, make_named_policy(first.policy, fleet, seeded).value(),
                 options);
    options.seed = 1;
    Engine used(fleet, first.jobs, make_named_policy(first.policy, fleet).value(), options);
    for (int steps = i % 40; steps > 0 && used.step(); --steps) {
    }
    used.restart(second.jobs, 5);
    for (;;) {
      const bool more = fresh.step();
      ASSERT_EQ(used.step(), more);
      if (!more) break;
      ASSERT_EQ(used.state().now(), fresh.state().now());
      ASSERT_EQ(used.state().tardiness_us(), fresh.state().tardiness_us());
      for (int h = 0; h < kHistogramCount; ++h) {
        const auto histogram = static_cast<Histogram>(h);
        ASSERT_EQ(used.state().aggregates().counts(histogram),
                  fresh.state().aggregates().counts(histogram));
      }
    }
    ASSERT_TRUE(std::ranges::equal(used.finish_us(), fresh.finish_us()));
    ASSERT_EQ(measure(used, 2e-7).et, measure(fresh, 2e-7).et);
    ASSERT_EQ(used.repartitions(), fresh.repartitions());
  }
}

}  // namespace
}  // namespace smartmig
