#include "study/compare.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "base/file.h"
#include "base/shipped.h"
#include "bound/linearised.h"
#include "policy/registry.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

const Fleet& two_gpus() {
  static const Fleet fleet = *Fleet::parse("2xA100-40GB");
  return fleet;
}

RunSettings settings() {
  RunSettings settings;
  settings.fleet = &two_gpus();
  settings.engine.estimate_sigma = 0.3;
  settings.engine.seed = 4;
  return settings;
}

DayTable fixed_day(std::size_t day, int count = 60) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 2;
  options.count = count;
  options.day = day;
  return std::make_shared<const JobTable>(generate(options));
}
Result<DayTable> day_of(std::size_t day) { return fixed_day(day); }

const std::vector<std::string> kPolicies = {"none/edf", "count/random", "greedy",
                                            "mean-field/cedf"};
const std::vector<Policy>& policies() {
  static const std::vector<Policy> made = *make_policies(settings(), kPolicies);
  return made;
}

TEST(Compare, GivesTheSameOnAnyNumberOfThreads) {
  const auto one = compare(settings(), policies(), 7, day_of, 1);
  const auto four = compare(settings(), policies(), 7, day_of, 4);
  ASSERT_TRUE(one && four);
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    EXPECT_EQ(one->policies[p].policy, kPolicies[p]);
    for (std::size_t q = 0; q < kQuantities.size(); ++q) {
      EXPECT_EQ(one->policies[p].estimates[q].mean, four->policies[p].estimates[q].mean);
      EXPECT_EQ(one->policies[p].estimates[q].low95, four->policies[p].estimates[q].low95);
    }
    EXPECT_EQ(one->policies[p].et_vs_first.high95, four->policies[p].et_vs_first.high95);
  }
}

TEST(Compare, EachDayIsTheRunItWouldBeAlone) {
  const auto together = compare(settings(), policies(), 3, day_of, 2);
  ASSERT_TRUE(together);
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    for (std::size_t day = 0; day < 3; ++day) {
      EngineOptions options = settings().engine;
      options.seed = day_seed(4, day);
      const Policy policy = *make_policy(kPolicies[p], two_gpus(), {2e-7, options.seed});
      const DayTable jobs = fixed_day(day);
      Engine engine(two_gpus(), *jobs, policy, options);
      ASSERT_TRUE(engine.run());
      EXPECT_EQ(together->policies[p].days[day].et, measure(engine, 2e-7).et);
    }
  }
}

TEST(Compare, DayZeroHasTheSeedItselfAndOtherDaysTheirOwn) {
  EXPECT_EQ(day_seed(4, 0), 4u);
  EXPECT_NE(day_seed(4, 1), day_seed(4, 2));
  EXPECT_NE(day_seed(4, 1), day_seed(5, 1));
}

TEST(Compare, TheFirstPolicyIsWhatOthersAreComparedWith) {
  const auto result = compare(settings(), policies(), 4, day_of, 1);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->policies[0].et_vs_first.mean, 0);
  EXPECT_EQ(result->policies[0].et_vs_first.high95, 0);
  const double first = result->policies[0][&Metrics::et].mean;
  const double third = result->policies[2][&Metrics::et].mean;
  EXPECT_NEAR(*result->policies[2].et_vs_first.mean, 100 * (third / first - 1), 1e-9);
}

TEST(Compare, MakesEachDayOnce) {
  std::atomic<int> made{0};
  const auto source = [&](std::size_t day) -> Result<DayTable> {
    ++made;
    return fixed_day(day, 5);
  };
  ASSERT_TRUE(compare(settings(), policies(), 6, source, 3));
  EXPECT_EQ(made, 6);
}

// Each file is read once, when policies are made: what becomes of it later changes no day.
TEST(Compare, NeedsNoFileOfAPolicyThatIsMade) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            fmt::format("smartmig_compare_{}.safetensors", ::getpid()))
                               .string();
  ASSERT_TRUE(write_file(path, std::string(shipped_file("mean-field.safetensors"))));
  const std::vector<std::string> specs = {"mean-field:" + path + "/cedf", "mean-field/cedf"};
  const auto made = make_policies(settings(), specs);
  std::filesystem::remove(path);
  ASSERT_TRUE(made) << made.error().message;
  const auto result = compare(settings(), *made, 3, day_of, 2);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->policies[0].policy, specs[0]);
  for (std::size_t day = 0; day < 3; ++day)
    EXPECT_EQ(result->policies[0].days[day].et, result->policies[1].days[day].et);
  EXPECT_FALSE(make_policies(settings(), specs)) << "the file is gone";
}

TEST(Compare, SaysWhichRunFailedFirstOnAnyNumberOfThreads) {
  // From day 2 on the last job needs more memory than a board has.
  const auto source = [](std::size_t day) -> Result<DayTable> {
    JobTable table = *fixed_day(day, 5);
    if (day >= 2) table.jobs.back().memory_mib = 1 << 20;
    return std::make_shared<const JobTable>(std::move(table));
  };
  for (const int threads : {1, 4}) {
    const auto result = compare(settings(), policies(), 6, source, threads);
    ASSERT_FALSE(result);
    EXPECT_TRUE(result.error().message.starts_with("none/edf, day 2: 1 of 5 jobs never ran"))
        << result.error().message;
  }
}

TEST(Compare, PricesEveryDayByTheTariff) {
  RunSettings priced = settings();
  priced.tariff.emplace();
  priced.tariff->price_per_kwh.fill(3.6);
  const auto comparison = compare(priced, policies(), 2, day_of, 1);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->quantities().back().key, "cost");
  for (const PolicyResult& result : comparison->policies) {
    // One price at all hours: energy times it.
    EXPECT_NEAR(result[&Metrics::cost].mean, result[&Metrics::energy_j].mean * 1e-6, 1e-9);
    EXPECT_EQ(result.days[0].co2_kg, 0);
  }
  priced.tariff->g_co2_per_kwh.emplace().fill(3600);
  const auto carbon = compare(priced, policies(), 2, day_of, 1);
  EXPECT_EQ(carbon->quantities().back().key, "co2_kg");
  EXPECT_NEAR(carbon->policies[0].days[1].co2_kg, carbon->policies[0].days[1].energy_j * 1e-6,
              1e-9);
  EXPECT_EQ(compare(settings(), policies(), 1, day_of, 1)->quantities().size(),
            kQuantities.size() - 2);
}

TEST(Compare, SaysHowFarTheEnergyIsAboveThePublishedBound) {
  auto comparison = compare(settings(), policies(), 2, day_of, 1);
  auto bounds = published_energy_bounds(settings(), 2, day_of, 2);
  ASSERT_TRUE(comparison && bounds);
  const DayTable first = fixed_day(0);
  EXPECT_EQ((*bounds)[0], linearised_energy_j(bound_input(settings(), *first)));
  add_energy_bounds(*comparison, *bounds, 4);
  for (const PolicyResult& result : comparison->policies) {
    const double energy_j = result.days[0].energy_j + result.days[1].energy_j;
    EXPECT_NEAR(*result.energy_above_published.mean,
                100 * (energy_j / ((*bounds)[0] + (*bounds)[1]) - 1), 1e-9);
    EXPECT_GT(*result.energy_above_published.mean, 0);
  }
}

TEST(Compare, WatchingARunChangesNothingInIt) {
  RunSettings watched = settings();
  watched.engine.records = true;
  std::atomic<int> seen{0};
  const auto plain = compare(settings(), policies(), 3, day_of, 2);
  const auto with = compare(watched, policies(), 3, day_of, 2, nullptr,
                            [&](std::size_t, std::size_t, const Engine& engine) {
                              EXPECT_TRUE(engine.records().has_value());
                              ++seen;
                            });
  ASSERT_TRUE(plain && with);
  EXPECT_EQ(seen, 3 * static_cast<int>(kPolicies.size()));
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    for (std::size_t q = 0; q < kQuantities.size(); ++q)
      EXPECT_EQ(plain->policies[p].estimates[q].mean, with->policies[p].estimates[q].mean);
  }
}

TEST(Compare, TheMedianDayIsTheLowerOfTwoAndTheFirstOfEquals) {
  PolicyResult result;
  for (const double et : {3., 1., 2., 2.}) {
    Metrics metrics;
    metrics.et = et;
    result.days.push_back(metrics);
  }
  EXPECT_EQ(median_day(result), 2u);
  result.days.resize(1);
  EXPECT_EQ(median_day(result), 0u);
}

TEST(Compare, RanksThePoliciesAndSaysTheMarginOfTheBest) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  RunSettings settings;
  settings.fleet = &fleet;
  const auto day = [](std::size_t number) -> Result<DayTable> {
    GeneratorOptions options;
    options.rate = 3;
    options.day = number;
    return std::make_shared<const JobTable>(generate(options));
  };
  const std::vector<std::string> specs = {"none/edf", "count/cedf", "none/edf"};
  const auto comparison = compare(settings, *make_policies(settings, specs), 3, day, 1);
  ASSERT_TRUE(comparison);
  const Ranking& ranking = comparison->ranking;
  ASSERT_EQ(ranking.order.size(), 3u);
  const auto et = [&](std::size_t place) {
    return comparison->policies[ranking.order[place]][&Metrics::et].mean;
  };
  EXPECT_LE(et(0), et(1));
  EXPECT_LE(et(1), et(2));
  // The two that are the same stand in the order asked for.
  EXPECT_LT(ranking.place(0), ranking.place(2));
  EXPECT_NEAR(*ranking.best_vs_next.mean, 100 * (et(0) / et(1) - 1), 1e-9);
  EXPECT_TRUE(ranking.best_vs_next.low95);
}

TEST(Compare, AMarginWhoseIntervalHoldsZeroMayBeChance) {
  EXPECT_TRUE(is_within_interval({-1., -3., 1.}));
  EXPECT_FALSE(is_within_interval({-2., -3., -1.}));
  EXPECT_FALSE(is_within_interval({-2., std::nullopt, std::nullopt}));
}

// A trace on which one policy's run is several times as long as another's.
Result<DayTable> trace_of(std::size_t day) {
  JobTable table = *fixed_day(day, 40);
  table.jobs[7].time_us = {to_us(40'000), to_us(20'000), to_us(9'000), to_us(5'000), to_us(2'000)};
  table.trace = TraceWindow{table.jobs.front().submit_us, table.jobs.back().submit_us};
  return std::make_shared<const JobTable>(std::move(table));
}

TEST(Compare, AnotherPolicyChangesNoOtherPolicysNumbersOnATrace) {
  RunSettings with = settings();
  with.engine.costs = Costs::real();
  with.engine.preemption = Preemption::kCheckpoint;
  const std::vector<std::string> all = {"none/edf", "static:1-1-1-1-1-1-1*2/smallest-first",
                                        "count/random", "greedy"};
  const auto made = *make_policies(with, all);
  const auto together = compare(with, made, 3, trace_of, 2);
  ASSERT_TRUE(together);
  EXPECT_GT(together->policies[1].length_s(), 3 * together->policies[0].length_s());
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto alone = compare(with, std::span(made).subspan(p, 1), 3, trace_of, 1);
    ASSERT_TRUE(alone);
    for (std::size_t day = 0; day < 3; ++day) {
      for (const Quantity& quantity : kQuantities) {
        EXPECT_EQ(alone->policies[0].days[day].*quantity.of,
                  together->policies[p].days[day].*quantity.of)
            << all[p] << " " << quantity.key;
      }
      EXPECT_EQ(alone->policies[0].days[day].makespan_s,
                together->policies[p].days[day].makespan_s);
    }
    EXPECT_EQ(alone->span_s(), together->span_s());
  }
}

TEST(Compare, SpanAndLengthAreOfTracesAndMeansOfTheirDays) {
  const auto trace = compare(settings(), policies(), 2, trace_of, 1);
  ASSERT_TRUE(trace);
  const double first_s = to_s((*trace_of(0))->trace->span_us());
  const double second_s = to_s((*trace_of(1))->trace->span_us());
  EXPECT_DOUBLE_EQ(*trace->span_s(), (first_s + second_s) / 2);
  EXPECT_GT(trace->policies[0].length_s(), *trace->span_s());
  EXPECT_FALSE(compare(settings(), policies(), 2, day_of, 1)->span_s());
}

}  // namespace
}  // namespace smartmig
