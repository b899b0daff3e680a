#include "bound/ascent.h"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "bound/job_cost.h"

namespace smartmig {
namespace {

// Jobs are summed in this many parts, whatever the number of threads, so that rounding is the same.
constexpr std::size_t kParts = 16;

// The length of a stretch but the last, where prices are 0.
double length_s(const Prices& prices, std::size_t stretch) {
  return stretch + 1 < prices.stretches() ? prices.edges_s[stretch + 1] - prices.edges_s[stretch]
                                          : 0;
}

// Edges are whole microseconds, which is how certificates keep them. False where that is no new
// one.
bool add_edge(Prices& prices, double at_s) {
  const double edge_s = to_s(to_us(at_s));
  if (!prices.edges_s.empty() && edge_s <= prices.edges_s.back()) return false;
  prices.edges_s.push_back(edge_s);
  return true;
}

Prices even_stretches(std::size_t resources, double until_s, std::size_t count) {
  Prices prices;
  for (std::size_t i = 0; i <= count; ++i)
    add_edge(prices, until_s * static_cast<double>(i) / static_cast<double>(count));
  prices.value.assign(resources * prices.stretches(), 0);
  return prices;
}

// Cuts every stretch longer than `finest_s` into `parts`, unless neither it nor a neighbour has a
// price; of the first few all are cut, for they are too long to show where the load is. Prices
// stay.
Prices refine(const Prices& old, std::size_t resources, std::size_t parts, double finest_s) {
  constexpr std::size_t kFew = 64;
  const auto priced = [&](std::size_t stretch) {
    for (std::size_t r = 0; r < resources; ++r) {
      if (stretch < old.stretches() && old.at(r, stretch) > 0) return true;
    }
    return false;
  };
  Prices prices;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < old.stretches(); ++i) {
    const double length = length_s(old, i);
    const bool cut = length > 1.5 * finest_s && (old.stretches() < kFew || priced(i) ||
                                                 priced(i + 1) || (i > 0 && priced(i - 1)));
    const std::size_t pieces = cut ? parts : 1;
    for (std::size_t k = 0; k < pieces; ++k) {
      const double at_s =
          old.edges_s[i] + length * static_cast<double>(k) / static_cast<double>(pieces);
      // A part that rounds to the end of its stretch must not take the next one's edge.
      if (i + 1 < old.stretches() && to_us(at_s) >= to_us(old.edges_s[i + 1])) continue;
      if (add_edge(prices, at_s)) from.push_back(i);
    }
  }
  for (std::size_t r = 0; r < resources; ++r) {
    for (const std::size_t i : from) prices.value.push_back(old.at(r, i));
  }
  return prices;
}

// The bound at these prices, and its slope: slice-seconds used beyond what there is.
double dual_value(const RelaxedProblem& problem, const Weights& weights, const Prices& prices,
                  int threads, std::vector<double>& slope) {
  const std::size_t size = prices.value.size();
  const std::size_t jobs = problem.jobs.size();
  std::array<double, kParts> values{};
  std::vector<std::vector<double>> usages(kParts);
  parallel_for(kParts, threads, [&](std::size_t part) {
    usages[part].assign(size, 0);
    JobCost job_cost(problem, prices, weights);
    for (std::size_t j = jobs * part / kParts; j < jobs * (part + 1) / kParts; ++j) {
      values[part] += job_cost.least(problem.jobs[j]);
      job_cost.add_usage(usages[part]);
    }
  });
  double value = weights.per_joule * problem.floor_j;
  for (const double part : values) value += part;
  slope.assign(size, 0);
  const std::size_t stretches = prices.stretches();
  for (std::size_t k = 0; k < size; ++k) {
    const double there = problem.capacity[k / stretches] * length_s(prices, k % stretches);
    value -= prices.value[k] * there;
    for (const auto& usage : usages) slope[k] += usage[k];
    slope[k] -= there;
  }
  return value;
}

// Steps along the slope, each coordinate scaled by how large its slope has been of late. Prices are
// of the order of the tardiness that a slice-second saves: a few jobs' worth in the papers' days,
// hundreds behind a backlog, so a stride grows while its direction holds.
class Climber {
 public:
  Climber(const RelaxedProblem& problem, const Weights& weights, Ascent& ascent, int threads)
      : problem_(problem), weights_(weights), ascent_(ascent), threads_(threads) {}

  // From ascent.prices; the best prices found are there afterwards.
  void climb(int evaluations, double first_stride, const std::function<void()>& on_evaluation) {
    const std::size_t stretches = ascent_.prices.stretches();
    Prices now = ascent_.prices;
    const std::size_t size = now.value.size();
    std::vector<double> slope(size), mean(size, 0), square(size, 0), reach(size, 1);
    for (int i = 0; i < evaluations; ++i) {
      const double value = dual_value(problem_, weights_, now, threads_, slope);
      ++ascent_.evaluations;
      if (value > ascent_.value) {
        ascent_.value = value;
        ascent_.prices = now;
      }
      on_evaluation();
      const double stride =
          weights_.per_late_s * first_stride * (1 - static_cast<double>(i) / evaluations);
      for (std::size_t k = 0; k < size; ++k) {
        const std::size_t stretch = k % stretches;
        if (stretch + 1 == stretches) continue;
        // As a share of what there is in the stretch.
        const double g = slope[k] / (length_s(now, stretch) * problem_.capacity[k / stretches]);
        // Where the direction holds, go further: behind a long queue prices are large.
        reach[k] = std::clamp(reach[k] * (g * mean[k] > 0 ? kFurther : kNearer), 1.0, kFarthest);
        mean[k] = kMemory * mean[k] + (1 - kMemory) * g;
        square[k] = kLongMemory * square[k] + (1 - kLongMemory) * g * g;
        now.value[k] = std::max(
            0.0, now.value[k] + stride * reach[k] * mean[k] / (std::sqrt(square[k]) + kSmallSlope));
      }
    }
  }

 private:
  static constexpr double kMemory = 0.8;
  static constexpr double kLongMemory = 0.95;
  static constexpr double kSmallSlope = 0.05;
  static constexpr double kFurther = 1.15;
  static constexpr double kNearer = 0.5;
  static constexpr double kFarthest = 1e4;

  const RelaxedProblem& problem_;
  Weights weights_;
  Ascent& ascent_;
  int threads_;
};

}  // namespace

Ascent ascend(const RelaxedProblem& problem, const Weights& weights, const AscentOptions& options,
              const std::function<void(double)>& on_evaluation) {
  constexpr std::size_t kCoarsest = 4;
  constexpr std::size_t kFewest = 64;
  constexpr std::size_t kFinest = 4096;
  constexpr std::size_t kCut = 4;  // A stretch is cut into so many.
  const std::size_t finest =
      options.finest > 0 ? options.finest : std::clamp(problem.jobs.size(), kFewest, kFinest);
  // Past this time nothing is priced. Sublinear jobs may well end after the earliest end.
  const double until_s = 1.3 * problem.earliest_end_s;
  const double finest_s = until_s / static_cast<double>(finest);
  std::vector<std::size_t> levels;
  for (std::size_t count = kCoarsest; count < finest; count *= kCut) levels.push_back(count);

  Ascent ascent;
  ascent.value = -HUGE_VAL;
  ascent.prices = even_stretches(problem.capacity.size(), until_s, std::min(kCoarsest, finest));
  Climber climber(problem, weights, ascent, options.threads);
  // Few stretches cost little, and large prices are found there.
  const auto rounds_with = [&](std::size_t stretches) {
    return std::max(30, stretches < 1024 ? options.rounds : options.rounds / 3);
  };
  int total = options.rounds;
  for (const std::size_t count : levels) total += rounds_with(count);
  const auto report = [&] {
    if (on_evaluation) on_evaluation(static_cast<double>(ascent.evaluations) / total);
  };
  for (const std::size_t count : levels) {
    climber.climb(rounds_with(count), 0.05, report);
    ascent.prices = refine(ascent.prices, problem.capacity.size(), kCut, finest_s);
  }
  climber.climb(options.rounds - options.rounds / 3, 0.02, report);
  climber.climb(options.rounds / 3, 0.002, report);
  return ascent;
}

}  // namespace smartmig
