#include "bound/job_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace smartmig {
namespace {

struct Case {
  RelaxedProblem problem;
  Prices prices;
  Weights weights;
};

Case random_case(std::uint64_t i) {
  Random random(3, "job cost", i);
  Case c;
  const std::size_t boards = 1 + random.below(2);
  c.problem.capacity.assign(2 * boards, 1);
  RelaxedJob job;
  job.release_s = random.uniform(0, 20);
  job.deadline_s = job.release_s + random.uniform(-2, 30);
  const double power = random.uniform(0.2, 1);
  const double first_s = random.uniform(5, 80);
  for (std::size_t b = 0; b < boards; ++b) {
    for (const int size : {1, 2, 3, 4, 7}) {
      if (random.below(5) == 0 && size != 7) continue;
      RunOption option;
      option.speed = std::pow(size, power) / first_s * random.uniform(0.9, 1.1);
      option.energy_w = random.uniform(0.5, 1.5) * size;
      option.board = static_cast<std::uint8_t>(b);
      option.compute = static_cast<std::uint8_t>(size);
      option.memory = static_cast<std::uint8_t>(size == 3 ? 4 : size == 7 ? 8 : size);
      c.problem.options.push_back(option);
    }
  }
  job.option_count = static_cast<std::uint32_t>(c.problem.options.size());
  c.problem.jobs.push_back(job);
  const std::size_t stretches = 1 + random.below(12);
  for (std::size_t s = 0; s < stretches; ++s)
    c.prices.edges_s.push_back(static_cast<double>(s) * random.uniform(3, 4));
  std::sort(c.prices.edges_s.begin(), c.prices.edges_s.end());
  for (std::size_t r = 0; r < 2 * boards; ++r) {
    for (std::size_t s = 0; s < stretches; ++s) {
      const bool last = s + 1 == stretches;
      c.prices.value.push_back(last || random.below(3) == 0 ? 0 : random.uniform(0, 1));
    }
  }
  c.weights = {random.below(4) ? random.uniform(0.01, 0.3) : 0, random.uniform(0.05, 3)};
  return c;
}

double price_of(const Case& c, const RunOption& option, double at_s) {
  const auto stretch = static_cast<std::size_t>(
      std::upper_bound(c.prices.edges_s.begin(), c.prices.edges_s.end(), at_s) -
      c.prices.edges_s.begin() - 1);
  return c.weights.per_joule * option.energy_w +
         c.prices.at(2 * option.board, stretch) * option.compute +
         c.prices.at(2 * option.board + 1, stretch) * option.memory;
}

// The least cost of ending by `end_s`, by a price for work found by halving: at that price running
// brings in exactly what the work is worth.
double cost_by(const Case& c, double end_s) {
  const RelaxedJob& job = c.problem.jobs[0];
  std::vector<double> cuts = {job.release_s};
  for (const double edge : c.prices.edges_s)
    if (edge > job.release_s && edge < end_s) cuts.push_back(edge);
  cuts.push_back(end_s);
  // By cut and option, found once: the search below asks for them hundreds of times.
  std::vector<double> prices;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
    for (const RunOption& option : c.problem.options)
      prices.push_back(price_of(c, option, cuts[k]));
  // By duality the largest over all prices of price - what it would bring in.
  const auto dual = [&](double x) {
    double value = x;
    const double* price = prices.data();
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      double gain = 0;
      for (const RunOption& option : c.problem.options)
        gain = std::max(gain, x * option.speed - *price++);
      value -= gain * (cuts[k + 1] - cuts[k]);
    }
    return value;
  };
  double low = 0;
  double high = 1e7;
  for (int i = 0; i < 200; ++i) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    if (dual(a) < dual(b)) {
      low = a;
    } else {
      high = b;
    }
  }
  return dual(low);
}

TEST(JobCost, IsTheLeastOverAllEnds) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const Case c = random_case(i);
    const RelaxedJob& job = c.problem.jobs[0];
    JobCost job_cost(c.problem, c.prices, c.weights);
    const double least = job_cost.least(job);
    double best = HUGE_VAL;
    double fastest = 0;
    for (const RunOption& option : c.problem.options) fastest = std::max(fastest, option.speed);
    const double first_s = job.release_s + 1 / fastest;
    for (double end_s = first_s; end_s < first_s + 120; end_s += 0.2) {
      const double late = c.weights.per_late_s * std::max(0.0, end_s - job.deadline_s);
      const double value = cost_by(c, end_s * (1 + 1e-12)) + late;
      ASSERT_LE(least, value + 1e-6 * (1 + value)) << "ending at " << end_s;
      best = std::min(best, value);
    }
    ASSERT_NEAR(least, best, 0.2 * c.weights.per_late_s + 0.02 * best);
  }
}

TEST(JobCost, UsesWhatItPaysFor) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    Case c = random_case(i);
    JobCost job_cost(c.problem, c.prices, c.weights);
    const double least = job_cost.least(c.problem.jobs[0]);
    std::vector<double> usage(c.prices.value.size(), 0);
    job_cost.add_usage(usage);
    // The cost is concave in the prices and the usage its slope: a step along any direction stays
    // below the tangent.
    Random random(4, "direction", i);
    Prices moved = c.prices;
    double tangent = least;
    for (std::size_t k = 0; k < usage.size(); ++k) {
      if (k % c.prices.stretches() + 1 == c.prices.stretches()) continue;
      const double step = std::max(-moved.value[k], random.uniform(-0.2, 0.2));
      moved.value[k] += step;
      tangent += step * usage[k];
    }
    JobCost there(c.problem, moved, c.weights);
    ASSERT_LE(there.least(c.problem.jobs[0]), tangent + 1e-7 * (1 + std::abs(tangent)));
  }
}

}  // namespace
}  // namespace smartmig
