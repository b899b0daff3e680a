#include "learn/environments.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "learn/whole_days.h"
#include "policy/registry.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

// Chooses for one environment: its inputs and mask, and the option, or for each head.
using Rule = std::function<int(std::span<const float>, std::span<const std::uint8_t>, int head)>;

void choose(const VectorEnvironment& environment, const Rule& rule,
            std::vector<std::uint16_t>& chosen) {
  const ActionShape shape = environment.actions();
  const auto inputs = static_cast<std::size_t>(environment.observation_size());
  const auto options = static_cast<std::size_t>(shape.options);
  chosen.assign(environment.count() * static_cast<std::size_t>(shape.size()), 0);
  for (std::size_t row = 0; row < environment.members().size(); ++row) {
    const std::size_t e = row / static_cast<std::size_t>(shape.heads);
    const int head = static_cast<int>(row % static_cast<std::size_t>(shape.heads));
    const auto mask = environment.masks().subspan(row * options, options);
    const int option = rule(environment.observations().subspan(e * inputs, inputs), mask, head);
    chosen[row * options + static_cast<std::size_t>(option)] = environment.members()[row];
  }
}

struct Played {
  double rewards = 0;
  VectorEnvironment::Finished finished;
};

// One episode of a set of one environment.
Played play(VectorEnvironment& environment, const Rule& rule) {
  WorkerPool pool(1);
  Played played;
  std::vector<std::uint16_t> chosen;
  do {
    choose(environment, rule, chosen);
    environment.step(chosen, pool);
    played.rewards += static_cast<double>(environment.rewards()[0]);
  } while (!environment.ended()[0]);
  played.finished = environment.take_finished();
  return played;
}

double simulated_et(const EpisodeSettings& settings, const std::string& policy) {
  Engine engine(*settings.fleet, settings.days->day(0),
                make_policy(policy, *settings.fleet).value(), settings.engine);
  EXPECT_TRUE(engine.run().has_value());
  return measure(engine, settings.energy_weight).et;
}

// Rewards are floats, thousands of them.
void expect_et(const Played& played, double et) {
  EXPECT_EQ(played.finished.episodes, 1u);
  EXPECT_NEAR(played.finished.mean_et, et, 1e-10 * et);
  EXPECT_NEAR(played.finished.mean_return, -et, 1e-10 * et);
  EXPECT_NEAR(played.rewards, -et, 1e-4 * et);
}

// Inputs of slice i, as docs/model/learning.md lists them.
constexpr int kOfJob = 28;
int earliest_finish(std::span<const float> inputs, std::span<const std::uint8_t> mask, int) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(mask.size()); ++i) {
    const auto late = [&](int slice) { return inputs[kOfJob + 3 * slice + 2]; };
    if (mask[i] && (best < 0 || late(i) < late(best))) best = i;
  }
  return best;
}

TEST(PlacementEnvironment, HasTheInputsAndOptionsOfTheCourseProject) {
  const auto environment = make_environment(course_placement(one_day()));
  EXPECT_EQ(environment->observation_size(), 88);
  EXPECT_EQ(environment->actions().options, 20);
}

TEST(PlacementEnvironment, DrivenByAPlacersChoicesCostsWhatThatPlacerCosts) {
  const auto settings = plain(course_placement(one_day()));
  const auto environment = make_environment(settings);
  const double et =
      simulated_et(settings.episodes, "static:7*2,4-3*2,4-2-1*2,2-2-2-1*2/earliest-finish");
  expect_et(play(*environment, earliest_finish), et);
  expect_et(play(*environment, earliest_finish), et);  // The same day again.
}

TEST(PlacementEnvironment, WithoutMasksTakesTheFirstFreeSliceForOneThatIsTaken) {
  auto settings = plain(course_placement(one_day()));
  settings.masked = false;
  const auto always_the_first = [](std::span<const float>, std::span<const std::uint8_t> mask,
                                   int) {
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), std::ssize(mask));
    return 0;
  };
  const double et = simulated_et(settings.episodes, "static:7*2,4-3*2,4-2-1*2,2-2-2-1*2/first-fit");
  expect_et(play(*make_environment(settings), always_the_first), et);
}

TEST(PlacementEnvironment, PaysForLateJobsByTheirShare) {
  auto settings = plain(course_placement(one_day()));
  settings.episodes.reward = {.tardiness = 0, .energy = 0, .late = 1};
  Engine engine(*settings.episodes.fleet, settings.episodes.days->day(0), settings.episodes.policy,
                settings.episodes.engine);
  ASSERT_TRUE(engine.run().has_value());
  const Metrics metrics = measure(engine, 2e-7);
  const Played played = play(*make_environment(settings), earliest_finish);
  EXPECT_NEAR(played.finished.mean_return, -metrics.late_pct / 100, 1e-9);
  EXPECT_NEAR(played.finished.mean_et, metrics.et, 1e-9);
}

int stay(std::span<const float>, std::span<const std::uint8_t>, int head) { return head; }

TEST(MeanFieldEnvironment, HasThePapersInputs) {
  auto settings = mean_field("8xA100-40GB", "cedf", one_day()).value();
  EXPECT_EQ(make_environment(settings)->observation_size(), 54);
  EXPECT_EQ(make_environment(settings)->actions().heads, 12);
  settings.queue_length = false;
  const auto environment = make_environment(settings);
  EXPECT_EQ(environment->observation_size(), 53);
  EXPECT_EQ(environment->members()[0], 8);
  EXPECT_EQ(environment->observations()[1], 1) << "every GPU begins as `7`";
}

TEST(MeanFieldEnvironment, CostsWhatNoneCostsWhereNothingChanges) {
  const auto settings = plain(mean_field("8xA100-40GB", "cedf", one_day(12)).value());
  expect_et(play(*make_environment(settings), stay), simulated_et(settings.episodes, "none/cedf"));
}

TEST(MeanFieldEnvironment, CostsWhatFixedLayoutsCostOnceAllHaveThem) {
  for (const char* costs : {"free", "paper"}) {
    auto settings = plain(mean_field("8xA100-40GB", "cedf", one_day()).value());
    settings.episodes.engine.costs = Costs::parse(costs).value();
    const Played played = play(*make_environment(settings),
                               [](auto, auto, int head) { return head == 0 ? 2 : head; });
    const double fixed = simulated_et(settings.episodes, "static:4-2-1*8/cedf");
    if (costs == std::string("free")) {
      expect_et(played, fixed);
    } else {
      EXPECT_GT(played.finished.mean_et, fixed) << "4 s off the first job's deadline";
      EXPECT_NEAR(played.rewards, -played.finished.mean_et, 1e-4 * fixed);
    }
  }
}

TEST(MeanFieldEnvironment, TakesTurnsEveryFiveEvents) {
  auto settings = plain(mean_field("8xA100-40GB", "cedf", one_day(12)).value());
  const auto environment = make_environment(settings);
  WorkerPool pool(1);
  std::vector<std::uint16_t> chosen;
  std::size_t steps = 0;
  do {
    choose(*environment, stay, chosen);
    environment->step(chosen, pool);
    ++steps;
  } while (!environment->ended()[0]);
  const std::size_t events = 2 * settings.episodes.days->day(0).jobs.size();
  EXPECT_NEAR(static_cast<double>(steps), static_cast<double>(events) / 5, 3);
}

// Follows the advice for one episode.
Played follow(VectorEnvironment& environment) {
  WorkerPool pool(1);
  Played played;
  do {
    const std::vector<std::uint16_t> chosen(environment.advice().begin(),
                                            environment.advice().end());
    environment.step(chosen, pool);
    played.rewards += static_cast<double>(environment.rewards()[0]);
  } while (!environment.ended()[0]);
  played.finished = environment.take_finished();
  return played;
}

TEST(LayoutAdvice, FollowedAtEveryEventCostsWhatCountCosts) {
  const auto one = plain(one_gpu("A100-40GB", "cedf", one_day(2.5)).value());
  expect_et(follow(*make_environment(one)), simulated_et(one.episodes, "count/cedf"));
  // Of several GPUs others change than `count`'s, and placers break ties by index.
  auto eight = plain(mean_field("8xA100-40GB", "cedf", one_day()).value());
  eight.every = 1;
  const double et = simulated_et(eight.episodes, "count/cedf");
  EXPECT_NEAR(follow(*make_environment(eight)).finished.mean_et, et, .01 * et);
}

TEST(SizeAdvice, FollowedCostsWhatSlowestOnTimeCosts) {
  const auto settings = plain(size_placement("8xA100-40GB", "count", one_day(10)).value());
  expect_et(follow(*make_environment(settings)),
            simulated_et(settings.episodes, "count/slowest-on-time"));
}

TEST(LayoutAdvice, IsForEveryGpuAlsoWhereItWasNotFollowed) {
  const auto environment = make_environment(plain(mean_field("8xA100-40GB").value()));
  WorkerPool pool(1);
  std::vector<std::uint16_t> chosen(144);
  for (int step = 0; step < 300; ++step) {
    for (int head = 0; head < 12; ++head) {
      const auto line = environment->advice().subspan(head * 12, 12);
      ASSERT_EQ(std::accumulate(line.begin(), line.end(), 0), environment->members()[head]);
      std::fill_n(chosen.begin() + head * 12, 12, 0);
      chosen[head * 12 + (head + step) % 12] = environment->members()[head];
    }
    environment->step(chosen, pool);
  }
}

TEST(MeanFieldEnvironment, RefusesSeveralBoards) {
  EXPECT_FALSE(mean_field("1xA100-40GB+1xA30", "cedf", one_day()).has_value());
}

TEST(OneGpuEnvironment, CostsWhatAFixedLayoutCostsWhereItIsKept) {
  const auto settings = plain(one_gpu("A100-40GB", "cedf", one_day(2.5)).value());
  const auto environment = make_environment(settings);
  EXPECT_EQ(environment->actions().heads, 1);
  EXPECT_EQ(environment->actions().options, 12);
  const auto keep = [](int layout) { return [=](auto, auto, int) { return layout; }; };
  expect_et(play(*environment, keep(0)), simulated_et(settings.episodes, "none/cedf"));
  expect_et(play(*environment, keep(1)), simulated_et(settings.episodes, "static:4-3/cedf"));
}

TEST(SizeEnvironment, DrivenByAPlacersChoicesCostsWhatThatPlacerCosts) {
  for (const Preemption preemption : {Preemption::kFree, Preemption::kOff}) {
    auto settings = plain(size_placement("8xA100-40GB", "count", one_day(12)).value());
    settings.episodes.engine.preemption = preemption;
    // Of each size: whether it may be taken, how many there are, how late the job would be.
    const Played played =
        play(*make_environment(settings), [](std::span<const float> inputs, auto mask, int) {
          const auto late = [&](int size) { return inputs[16 + 3 * size + 2]; };
          int fastest = -1;
          for (int size = 0; size < kSizeCount; ++size) {
            if (!mask[size]) continue;
            if (late(size) <= 0) return size;
            if (fastest < 0 || late(size) < late(fastest)) fastest = size;
          }
          return fastest;
        });
    expect_et(played, simulated_et(settings.episodes, "count/slowest-on-time"));
  }
}

// Each of these, over everything an environment shows.
struct Recorded {
  std::vector<float> numbers;
  std::vector<std::uint8_t> bytes;
  bool operator==(const Recorded& other) const {
    return numbers.size() == other.numbers.size() && bytes == other.bytes &&
           std::memcmp(numbers.data(), other.numbers.data(), numbers.size() * sizeof(float)) == 0;
  }
};

Recorded record(VectorEnvironment& environment, int steps, int threads) {
  WorkerPool pool(threads);
  Random random(5, "test choices");
  Recorded seen;
  std::vector<std::uint16_t> chosen;
  for (int i = 0; i < steps; ++i) {
    choose(
        environment,
        [&](auto, std::span<const std::uint8_t> mask, int) {
          int option = static_cast<int>(random.below(mask.size()));
          while (!mask[option]) option = (option + 1) % static_cast<int>(mask.size());
          return option;
        },
        chosen);
    environment.step(chosen, pool);
    const auto add = [](auto& to, auto from) { to.insert(to.end(), from.begin(), from.end()); };
    add(seen.numbers, environment.observations());
    add(seen.numbers, environment.rewards());
    add(seen.bytes, environment.masks());
    add(seen.bytes, environment.ended());
  }
  return seen;
}

DayPoolOptions short_days() {
  DayPoolOptions days;
  days.days = 3;
  days.rates = {1, 2};
  return days;
}

std::vector<std::unique_ptr<VectorEnvironment>> one_of_each(std::uint64_t seed) {
  const auto made = [&](auto settings) {
    settings.episodes.environments = 20;
    settings.episodes.seed = seed;
    return make_environment(settings);
  };
  std::vector<std::unique_ptr<VectorEnvironment>> all;
  all.push_back(made(course_placement(short_days())));
  all.push_back(made(mean_field("4xA100-40GB", "cedf", short_days()).value()));
  all.push_back(made(mean_field("3xA30", "edf", short_days()).value()));
  all.push_back(made(one_gpu("H100-80GB", "random", short_days()).value()));
  all.push_back(made(size_placement("2xA100-40GB", "count", short_days()).value()));
  return all;
}

TEST(Environments, GiveTheSameBytesFromTheSameSeedOnAnyNumberOfThreads) {
  const auto a = one_of_each(1);
  const auto b = one_of_each(1);
  const auto c = one_of_each(2);
  for (std::size_t kind = 0; kind < a.size(); ++kind) {
    const Recorded first = record(*a[kind], 400, 1);
    EXPECT_TRUE(first == record(*b[kind], 400, 2)) << "kind " << kind;
    EXPECT_FALSE(first == record(*c[kind], 400, 1)) << "kind " << kind;
  }
}

TEST(Environments, GoOnFromABlockWhateverCameBefore) {
  const auto a = one_of_each(1);
  const auto b = one_of_each(1);
  for (std::size_t kind = 0; kind < a.size(); ++kind) {
    record(*a[kind], 50 + static_cast<int>(kind), 1);
    a[kind]->restart(7);
    b[kind]->restart(7);
    const Recorded seventh = record(*a[kind], 100, 1);
    EXPECT_TRUE(seventh == record(*b[kind], 100, 1)) << "kind " << kind;
    a[kind]->restart(8);
    EXPECT_FALSE(seventh == record(*a[kind], 100, 1)) << "blocks differ, kind " << kind;
  }
}

TEST(Environments, BeginABlockAtAllTimesOfTheDay) {
  auto settings = mean_field("8xA100-40GB", "cedf", one_day(2)).value();
  settings.episodes.environments = 50;
  const auto environment = make_environment(settings);
  int in_the_morning = 0;
  const auto inputs = static_cast<std::size_t>(environment->observation_size());
  for (std::size_t e = 0; e < 50; ++e)
    in_the_morning += environment->observations()[e * inputs] < 0.5f;
  EXPECT_GT(in_the_morning, 8);
  EXPECT_LT(in_the_morning, 42);
}

TEST(DayPool, SharesNoDayWithAComparison) {
  const DayPoolOptions options = short_days();
  const DayPool pool(options);
  GeneratorOptions reported;
  reported.rate = 1;
  const JobTable day = generate(reported);
  EXPECT_NE(pool.day(0).jobs[0].submit_us, day.jobs[0].submit_us);
  reported.day = kTrainingDays;
  EXPECT_EQ(pool.day(0).jobs[0].submit_us, generate(reported).jobs[0].submit_us);
}

}  // namespace
}  // namespace smartmig
