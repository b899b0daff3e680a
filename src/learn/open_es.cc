#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "learn/evolution.h"

namespace smartmig {
namespace {

Random pair_stream(const EvolutionSettings& settings, std::int64_t generation, std::size_t pairs,
                   std::size_t pair) {
  return {settings.seed, "perturbations", static_cast<std::uint64_t>(generation) * pairs + pair};
}

// From -1/2 for the worst to 1/2 for the best.
std::vector<double> utilities(std::span<const double> scores) {
  const auto ranking = rank_scores(scores);
  std::vector<double> out(scores.size());
  const auto last = static_cast<double>(scores.size() - 1);
  for (std::size_t r = 0; r < ranking.size(); ++r) {
    out[ranking[r]] = 0.5 - static_cast<double>(r) / last;
  }
  return out;
}

}  // namespace

OpenEs::OpenEs(const EvolutionSettings& settings, std::span<const double> start)
    : settings_(settings) {
  const auto n = static_cast<double>(start.size());
  const double wanted = settings.population > 0 ? settings.population : 4 + 3 * std::log(n);
  population_ = 2 * std::max<std::size_t>(2, static_cast<std::size_t>(wanted / 2));
  for (double x : start) state_.parameters.push_back(static_cast<float>(x));
}

std::vector<double> OpenEs::parameters() const {
  return {state_.parameters.begin(), state_.parameters.end()};
}

EvolutionProgress OpenEs::step(const Score& score, WorkerPool& pool) {
  SM_CHECK(!done());
  const std::size_t n = state_.parameters.size();
  const std::size_t pairs = population_ / 2;
  std::vector<double> scores(population_);
  pool.run(pairs, [&](std::size_t pair) {
    Random random = pair_stream(settings_, state_.generation, pairs, pair);
    std::vector<double> there(n);
    std::vector<double> back(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double move = settings_.sigma * random.normal();
      there[i] = state_.parameters[i] + move;
      back[i] = state_.parameters[i] - move;
    }
    scores[2 * pair] = score(there, state_.generation);
    scores[2 * pair + 1] = score(back, state_.generation);
  });
  const auto worth = utilities(scores);
  // The draws are made again rather than kept: thousands of numbers for each of many samples.
  std::vector<double> uphill(n);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    Random random = pair_stream(settings_, state_.generation, pairs, pair);
    const double weight = worth[2 * pair] - worth[2 * pair + 1];
    for (double& g : uphill) g += weight * random.normal();
  }
  std::vector<float> gradient(n);
  const double scale = -1 / (static_cast<double>(population_) * settings_.sigma);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = static_cast<float>(scale * uphill[i]);
  state_.adam.step(state_.parameters, gradient, settings_.learning_rate);
  ++state_.generation;
  const auto ranking = rank_scores(scores);
  return {state_.generation, state_.generation * static_cast<std::int64_t>(population_),
          scores[ranking.front()], scores[ranking[population_ / 2]], settings_.sigma};
}

}  // namespace smartmig
