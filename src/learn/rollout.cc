#include "learn/rollout.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "nn/masked_categorical.h"

namespace smartmig {
namespace {

// Environments whose network passes are one task.
constexpr std::size_t kChunk = 32;

}  // namespace

Rollout::Rollout(const PpoSettings& settings, const VectorEnvironment& environment)
    : steps(settings.rollout_steps), environments(environment.count()) {
  const auto size = static_cast<std::size_t>(environment.actions().size());
  observations.resize((rows() + environments) * environment.observation_size());
  masks.resize(rows() * size);
  members.resize(rows() * environment.actions().heads);
  counts.resize(rows() * size);
  if (settings.advice.from > 0 || settings.advice.to > 0) {
    advice.resize(environment.advice().empty() ? 0 : rows() * size);
  }
  log_probabilities.resize(rows());
  if (!settings.clipped) probabilities.resize(rows() * size);
  rewards.resize(rows());
  ended.resize(rows());
  values.resize(rows() + environments);
  advantages.resize(rows());
  returns.resize(rows());
}

void find_advantages(Rollout& rollout, double gamma, double lambda, double scale, double limit) {
  const std::size_t n = rollout.environments;
  for (std::size_t e = 0; e < n; ++e) {
    double advantage = 0;
    for (std::size_t row = rollout.rows() + e; row >= n + e;) {
      row -= n;
      double reward = rollout.rewards[row] * scale;
      if (limit > 0) reward = std::clamp(reward, -limit, limit);
      const double goes_on = rollout.ended[row] ? 0 : 1;
      const double surprise =
          reward + gamma * goes_on * rollout.values[row + n] - rollout.values[row];
      advantage = surprise + gamma * lambda * goes_on * advantage;
      rollout.advantages[row] = static_cast<float>(advantage);
      rollout.returns[row] = static_cast<float>(advantage + rollout.values[row]);
    }
  }
}

void normalise(std::span<float> values) {
  double mean = 0;
  for (float v : values) mean += v;
  mean /= static_cast<double>(values.size());
  double square = 0;
  for (float v : values) square += (v - mean) * (v - mean);
  const double spread = std::sqrt(square / static_cast<double>(values.size())) + 1e-8;
  for (float& v : values) v = static_cast<float>((v - mean) / spread);
}

double explained_variance(const Rollout& rollout) {
  double mean_return = 0;
  double mean_error = 0;
  const auto n = static_cast<double>(rollout.rows());
  for (std::size_t i = 0; i < rollout.rows(); ++i) {
    mean_return += rollout.returns[i] / n;
    mean_error += (rollout.returns[i] - rollout.values[i]) / n;
  }
  double of_returns = 0;
  double of_errors = 0;
  for (std::size_t i = 0; i < rollout.rows(); ++i) {
    of_returns += std::pow(rollout.returns[i] - mean_return, 2);
    of_errors += std::pow(rollout.returns[i] - rollout.values[i] - mean_error, 2);
  }
  return of_returns > 0 ? 1 - of_errors / of_returns : 0;
}

Collector::Collector(const PpoSettings& settings, VectorEnvironment& environment, WorkerPool& pool)
    : settings_(settings),
      environment_(environment),
      pool_(pool),
      inputs_(environment.observation_size()),
      actions_(environment.actions()) {
  const std::size_t count = environment.count();
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    Chunk chunk;
    chunk.begin = begin;
    chunk.end = std::min(count, begin + kChunk);
    const std::size_t size = (chunk.end - begin) * actions_.size();
    chunk.logits.resize(size);
    chunk.probabilities.resize(size);
    chunk.log_probabilities.resize(size);
    chunks_.push_back(std::move(chunk));
  }
  normaliser_.mean.assign(inputs_, 0.0F);
  normaliser_.scale.assign(inputs_, 1.0F);
}

void Collector::see(Chunk& chunk, std::size_t step, const Network& network, Rollout& out) {
  const std::size_t rows = chunk.end - chunk.begin;
  const std::size_t first = step * out.environments + chunk.begin;
  const auto raw = environment_.observations().subspan(chunk.begin * inputs_, rows * inputs_);
  const auto seen = std::span(out.observations).subspan(first * inputs_, rows * inputs_);
  normaliser_.apply(raw, seen);
  network.forward(seen, rows, chunk.workspace, chunk.logits,
                  std::span(out.values).subspan(first, rows));
}

void Collector::choose(Chunk& chunk, std::size_t step, Rollout& out) {
  const auto size = static_cast<std::size_t>(actions_.size());
  const auto heads = static_cast<std::size_t>(actions_.heads);
  const auto options = static_cast<std::size_t>(actions_.options);
  const std::size_t rows = chunk.end - chunk.begin;
  const std::size_t first = step * out.environments + chunk.begin;
  const auto masks = std::span(out.masks).subspan(first * size, rows * size);
  const auto members = std::span(out.members).subspan(first * heads, rows * heads);
  const auto counts = std::span(out.counts).subspan(first * size, rows * size);
  std::copy_n(environment_.masks().begin() + chunk.begin * size, rows * size, masks.begin());
  std::copy_n(environment_.members().begin() + chunk.begin * heads, rows * heads, members.begin());
  if (!out.advice.empty()) {
    std::copy_n(environment_.advice().begin() + chunk.begin * size, rows * size,
                out.advice.begin() + first * size);
  }
  keep_most_likely(chunk.logits, actions_.options, settings_.keep_options, masks);
  masked_softmax(chunk.logits, masks, members, actions_.options, chunk.probabilities,
                 chunk.log_probabilities);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t line = row * heads; line < (row + 1) * heads; ++line) {
      sample_counts(std::span(chunk.probabilities).subspan(line * options, options), members[line],
                    streams_[chunk.begin + row], counts.subspan(line * options, options));
    }
    out.log_probabilities[first + row] = static_cast<float>(
        log_probability(std::span(chunk.log_probabilities).subspan(row * size, size),
                        counts.subspan(row * size, size)));
  }
  if (!out.probabilities.empty()) {
    std::copy(chunk.probabilities.begin(), chunk.probabilities.end(),
              out.probabilities.begin() + first * size);
  }
}

void Collector::collect(const Network& network, std::int64_t iteration,
                        RunningNormaliser& observations, RunningNormaliser& returns,
                        std::vector<float>& discounted, Rollout& out) {
  const std::size_t n = environment_.count();
  const auto size = static_cast<std::size_t>(actions_.size());
  SM_CHECK(out.environments == n && discounted.size() == n);
  streams_.clear();
  for (std::size_t e = 0; e < n; ++e) {
    streams_.emplace_back(settings_.seed, "choices", static_cast<std::uint64_t>(iteration) * n + e);
  }
  if (settings_.normalise_observations) observations.freeze_into(normaliser_);
  for (std::size_t step = 0; step < out.steps; ++step) {
    if (settings_.normalise_observations) {
      observations.add(environment_.observations());
      // Nothing is known at first; later the network must see one scale throughout a rollout.
      if (iteration == 0) observations.freeze_into(normaliser_);
    }
    pool_.run(chunks_.size(), [&](std::size_t c) {
      see(chunks_[c], step, network, out);
      choose(chunks_[c], step, out);
    });
    environment_.step(std::span(out.counts).subspan(step * n * size, n * size), pool_);
    const auto rewards = environment_.rewards();
    const auto ended = environment_.ended();
    std::copy(rewards.begin(), rewards.end(), out.rewards.begin() + step * n);
    std::copy(ended.begin(), ended.end(), out.ended.begin() + step * n);
    if (!settings_.scale_rewards) continue;
    for (std::size_t e = 0; e < n; ++e) {
      discounted[e] = static_cast<float>(settings_.gamma) * discounted[e] + rewards[e];
    }
    returns.add(discounted);
    for (std::size_t e = 0; e < n; ++e) {
      if (ended[e]) discounted[e] = 0;
    }
  }
  pool_.run(chunks_.size(), [&](std::size_t c) { see(chunks_[c], out.steps, network, out); });
}

}  // namespace smartmig
