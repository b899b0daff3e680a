#include "learn/evolution.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.h"

namespace smartmig {
namespace {

double sphere(std::span<const double> x, std::int64_t) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return sum;
}

// Axes 1 to 1000 long, turned by 30 degrees in every plane of neighbours: no coordinate is an axis.
double turned_ellipsoid(std::span<const double> x, std::int64_t) {
  std::vector<double> y(x.begin(), x.end());
  const double c = std::cos(std::numbers::pi / 6);
  const double s = std::sin(std::numbers::pi / 6);
  for (std::size_t i = 0; i + 1 < y.size(); ++i) {
    const double a = y[i];
    y[i] = c * a - s * y[i + 1];
    y[i + 1] = s * a + c * y[i + 1];
  }
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(y.size() - 1)) * y[i] * y[i];
  }
  return sum;
}

double rosenbrock(std::span<const double> x, std::int64_t) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
  }
  return sum;
}

// Evaluations until the best score is below the limit; 0: never.
std::int64_t evaluations_until(const Score& score, std::size_t n, double at, double limit,
                               bool active) {
  EvolutionSettings settings;
  settings.generations = 3000;
  settings.sigma = 0.5;
  settings.active = active;
  CmaEs search(settings, std::vector<double>(n, at));
  WorkerPool pool(1);
  while (!search.done()) {
    const EvolutionProgress row = search.step(score, pool);
    if (row.best < limit) return row.evaluations;
  }
  return 0;
}

// Evaluations as Hansen reports them for 10 numbers: about 1,800, 6,000 and 6,000, the ellipsoid a
// third less with negative weights.
TEST(CmaEs, SolvesTheUsualProblemsInTheUsualEffort) {
  for (bool active : {true, false}) {
    const auto on_sphere = evaluations_until(sphere, 10, 1, 1e-10, active);
    EXPECT_GT(on_sphere, 300);
    EXPECT_LT(on_sphere, 2200) << active;
    const auto on_ellipsoid = evaluations_until(turned_ellipsoid, 10, 1, 1e-10, active);
    EXPECT_GT(on_ellipsoid, 300);
    EXPECT_LT(on_ellipsoid, active ? 5200 : 7500) << active;
    const auto on_rosenbrock = evaluations_until(rosenbrock, 10, 0, 1e-10, active);
    EXPECT_GT(on_rosenbrock, 300);
    EXPECT_LT(on_rosenbrock, 7500) << active;
  }
}

TEST(CmaEs, FollowsTheScalesOfItsNumbers) {
  // The optimum lies at the scales' distance: far for one, near for the other.
  const std::vector<double> goal = {5000, 0.002};
  const auto score = [&](std::span<const double> x, std::int64_t) {
    return std::pow((x[0] - goal[0]) / 5000, 2) + std::pow((x[1] - goal[1]) / 0.002, 2);
  };
  EvolutionSettings settings;
  settings.generations = 60;
  CmaEs search(settings, {0, 0}, {5000, 0.002});
  WorkerPool pool(1);
  EXPECT_EQ(search.best(), (std::vector<double>{0, 0}));
  while (!search.done()) search.step(score, pool);
  EXPECT_NEAR(search.mean()[0], 5000, 1);
  EXPECT_NEAR(search.best()[1], 0.002, 1e-6);
}

TEST(CmaEs, RanksWhatIsNotFiniteLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(rank_scores(std::vector<double>{nan, 2, 1, std::numeric_limits<double>::infinity(), 1}),
            (std::vector<std::size_t>{2, 4, 1, 0, 3}));
  // Half the plane is forbidden.
  const auto score = [&](std::span<const double> x, std::int64_t g) {
    return x[0] < 0 ? nan : sphere(x, g);
  };
  EvolutionSettings settings;
  settings.generations = 100;
  CmaEs search(settings, {1, 1});
  WorkerPool pool(1);
  while (!search.done()) search.step(score, pool);
  EXPECT_LT(search.state().best_score, 1e-6);
}

TEST(CmaEs, EndsInTheSameBytesOnMoreThreadsAndWhenTakenUp) {
  EvolutionSettings settings;
  settings.generations = 20;
  const std::vector<double> start(12, 0.7);
  const auto run = [&](int threads) {
    WorkerPool pool(threads);
    CmaEs search(settings, start);
    while (!search.done()) search.step(rosenbrock, pool);
    return *encode_safetensors(search.checkpoint(), "c");
  };
  const std::string whole = run(1);
  EXPECT_TRUE(run(2) == whole);
  WorkerPool pool(1);
  CmaEs first(settings, start);
  for (int i = 0; i < 7; ++i) first.step(rosenbrock, pool);
  const auto file = decode_safetensors(*encode_safetensors(first.checkpoint(), "c"), "c");
  ASSERT_TRUE(file);
  CmaEs second(settings, start);
  const auto resumed = second.resume(*file, "c");
  ASSERT_TRUE(resumed) << resumed.error().message;
  while (!second.done()) second.step(rosenbrock, pool);
  EXPECT_TRUE(*encode_safetensors(second.checkpoint(), "c") == whole);
}

TEST(CmaEs, RefusesACheckpointOfAnotherSearch) {
  EvolutionSettings settings;
  const CmaEs search(settings, {1, 2});
  const TensorFile file = search.checkpoint();
  CmaEs elsewhere(settings, {1, 3});
  EXPECT_EQ(elsewhere.resume(file, "c").error().message,
            "c: begins elsewhere than the recipe's start and scales");
  CmaEs longer(settings, {1, 2, 3});
  EXPECT_FALSE(longer.resume(file, "c"));
  settings.sigma = 0.4;
  CmaEs wider(settings, {1, 2});
  EXPECT_FALSE(wider.resume(file, "c"));
}

TEST(CmaEs, ScoresEverySampleOnceAndNamesTheGeneration) {
  EvolutionSettings settings;
  settings.generations = 3;
  settings.population = 10;
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> sum = 0;
  const auto score = [&](std::span<const double> x, std::int64_t generation) {
    ++calls;
    sum += generation;
    return sphere(x, generation);
  };
  WorkerPool pool(2);
  CmaEs search(settings, {1, 1, 1});
  EvolutionProgress last;
  while (!search.done()) last = search.step(score, pool);
  EXPECT_EQ(calls, 30);
  EXPECT_EQ(sum, 30);  // Ten of 0, of 1 and of 2.
  EXPECT_EQ(last.evaluations, 30);
  EXPECT_LE(last.best, last.median);
}

}  // namespace
}  // namespace smartmig
