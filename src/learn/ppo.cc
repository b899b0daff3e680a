#include "learn/ppo.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/result.h"
#include "nn/network_file.h"

namespace smartmig {
namespace {

// A minibatch is cut into this many parts, each with a gradient of its own, whatever the number of
// threads: the order of the sums does not depend on it.
constexpr std::size_t kLanes = 8;
// Rows that go through the network at once: what lies between two layers stays in the cache.
constexpr std::size_t kRows = 256;

PpoState first_state(const PpoSettings& settings, const NetworkSettings& network,
                     const VectorEnvironment& environment) {
  PpoState state(Network({.inputs = environment.observation_size(),
                          .hidden = network.hidden,
                          .outputs = environment.actions().size(),
                          .activation = network.activation}));
  Random random(settings.seed, "initial weights");
  state.network.initialise(random);
  if (const ActionShape actions = environment.actions(); actions.heads == actions.options) {
    const Layer& policy = state.network.layers()[network.hidden.size()];
    for (int i = 0; i < actions.heads; ++i) {
      state.network.parameters()[policy.biases + i * (actions.options + 1)] +=
          static_cast<float>(network.stay);
    }
  }
  state.discounted.resize(environment.count());
  state.kl_weight = settings.kl_weight;
  return state;
}

}  // namespace

// The buffers of one part of a minibatch; rows are gathered so that the network sees them in one
// piece.
struct Ppo::Lane {
  Workspace workspace;
  PpoLossScratch scratch;
  PpoLossSums sums;
  std::vector<float> gradient;
  std::vector<float> observations;
  std::vector<std::uint8_t> masks;
  std::vector<std::uint16_t> members;
  std::vector<std::uint16_t> counts;
  std::vector<std::uint16_t> advice;
  std::vector<float> old_probabilities;
  std::vector<float> old_log_probabilities;
  std::vector<float> advantages;
  std::vector<float> returns;
  std::vector<float> old_values;
  std::vector<float> logits;
  std::vector<float> values;
  std::vector<float> d_logits;
  std::vector<float> d_values;

  Lane(const PpoState& state, ActionShape actions, bool clipped)
      : gradient(state.network.parameters().size()),
        observations(kRows * state.network.shape().inputs),
        masks(kRows * actions.size()),
        members(kRows * actions.heads),
        counts(kRows * actions.size()),
        advice(kRows * actions.size()),
        old_probabilities(clipped ? 0 : kRows * actions.size()),
        old_log_probabilities(kRows),
        advantages(kRows),
        returns(kRows),
        old_values(kRows),
        logits(kRows * actions.size()),
        values(kRows),
        d_logits(kRows * actions.size()),
        d_values(kRows) {}
};

Ppo::Ppo(const PpoSettings& settings, const NetworkSettings& network,
         VectorEnvironment& environment, WorkerPool& pool)
    : settings_(settings),
      environment_(environment),
      pool_(pool),
      state_(first_state(settings, network, environment)),
      collector_(settings, environment, pool),
      rollout_(settings, environment),
      order_(rollout_.rows()),
      gradient_(state_.network.parameters().size()) {
  SM_CHECK(static_cast<std::size_t>(settings.environments) == environment.count());
  for (std::size_t i = 0; i < kLanes; ++i) {
    lanes_.emplace_back(state_, environment.actions(), settings.clipped);
  }
}

Ppo::~Ppo() = default;

void Ppo::begin_with(const Network& network, const RunningNormaliser& observations) {
  SM_CHECK(state_.iteration == 0 && network.shape() == state_.network.shape());
  state_.network = network;
  state_.observations = observations;
}

double Ppo::progress() const {
  return static_cast<double>(state_.iteration) / static_cast<double>(settings_.iterations());
}

PpoLossWeights Ppo::weights() const {
  return {.clipped = settings_.clipped,
          .clip = settings_.clip.at(progress()),
          .kl = state_.kl_weight,
          .value = settings_.value_weight,
          .value_clip = settings_.value_clip,
          .entropy = settings_.entropy.at(progress())};
}

void Ppo::add_gradient(Lane& lane, const PpoLossWeights& weights,
                       std::span<const std::uint32_t> rows, std::size_t minibatch) {
  const ActionShape actions = environment_.actions();
  const std::size_t n = rows.size();
  const auto gather = [&](const auto& from, auto& to, std::size_t width) {
    for (std::size_t i = 0; i < n; ++i) {
      // Rows lie anywhere in a few MiB: ask for one some time before it is copied.
      const char* later =
          reinterpret_cast<const char*>(&from[rows[std::min(i + 6, n - 1)] * width]);
      for (std::size_t line = 0; line < width * sizeof(from[0]); line += 64) {
        __builtin_prefetch(later + line);
      }
      std::copy_n(from.begin() + rows[i] * width, width, to.begin() + i * width);
    }
    return std::span(to).first(n * width);
  };
  const std::size_t size = actions.size();
  const auto observations =
      gather(rollout_.observations, lane.observations, environment_.observation_size());
  PpoRows batch{actions.options,
                gather(rollout_.masks, lane.masks, size),
                gather(rollout_.members, lane.members, actions.heads),
                gather(rollout_.counts, lane.counts, size),
                {},
                gather(rollout_.log_probabilities, lane.old_log_probabilities, 1),
                gather(rollout_.advantages, lane.advantages, 1),
                gather(rollout_.returns, lane.returns, 1),
                gather(rollout_.values, lane.old_values, 1)};
  if (!weights.clipped) {
    batch.old_probabilities = gather(rollout_.probabilities, lane.old_probabilities, size);
  }
  const auto logits = std::span(lane.logits).first(n * size);
  const auto values = std::span(lane.values).first(n);
  const auto d_logits = std::span(lane.d_logits).first(n * size);
  const auto d_values = std::span(lane.d_values).first(n);
  state_.network.forward(observations, n, lane.workspace, logits, values);
  lane.sums.add(
      ppo_loss(weights, batch, minibatch, logits, values, lane.scratch, d_logits, d_values));
  if (const double weight = settings_.advice.at(progress()); !rollout_.advice.empty() && weight > 0)
    add_advice(weight, gather(rollout_.advice, lane.advice, size), n, minibatch, lane.scratch,
               actions.options, d_logits);
  state_.network.backward(observations, n, lane.workspace, d_logits, d_values, lane.gradient);
}

Ppo::Epoch Ppo::run_epoch(const PpoLossWeights& weights, double learning_rate) {
  Epoch epoch;
  const std::size_t total = order_.size();
  const std::size_t parts = (total + settings_.minibatch - 1) / settings_.minibatch;
  for (std::size_t part = 0; part < parts; ++part) {
    // Minibatches of nearly equal size.
    const std::size_t begin = part * total / parts;
    const std::size_t size = (part + 1) * total / parts - begin;
    const std::span minibatch = std::span<const std::uint32_t>(order_).subspan(begin, size);
    pool_.run(kLanes, [&](std::size_t l) {
      Lane& lane = lanes_[l];
      std::fill(lane.gradient.begin(), lane.gradient.end(), 0.0F);
      lane.sums = {};
      const std::size_t end = (l + 1) * size / kLanes;
      for (std::size_t at = l * size / kLanes; at < end; at += kRows) {
        add_gradient(lane, weights, minibatch.subspan(at, std::min(kRows, end - at)), size);
      }
    });
    std::fill(gradient_.begin(), gradient_.end(), 0.0F);
    for (const Lane& lane : lanes_) {
      for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += lane.gradient[i];
      epoch.sums.add(lane.sums);
    }
    const double length = clip_gradient(gradient_, settings_.gradient_limit);
    ++epoch.minibatches;
    // One row that overflowed must not end the training: the weights stay finite.
    if (!std::isfinite(length)) {
      ++epoch.skipped;
      continue;
    }
    epoch.gradient_length += length;
    state_.adam.step(state_.network.parameters(), gradient_, learning_rate);
  }
  return epoch;
}

// Schulman et al. 2017, section 4.
void Ppo::adapt_kl_weight(double kl) {
  if (kl > settings_.kl_aim * 1.5) state_.kl_weight *= 2;
  if (kl < settings_.kl_aim / 1.5) state_.kl_weight /= 2;
  state_.kl_weight = std::clamp(state_.kl_weight, 1e-6, 1e6);
}

PpoProgress Ppo::iterate() {
  SM_CHECK(!done());
  const auto start = std::chrono::steady_clock::now();
  if (can_be_saved()) {
    environment_.restart(static_cast<std::uint64_t>(state_.iteration / settings_.restart_every));
    std::fill(state_.discounted.begin(), state_.discounted.end(), 0.0F);
  }
  collector_.collect(state_.network, state_.iteration, state_.observations, state_.returns,
                     state_.discounted, rollout_);
  const double scale =
      settings_.scale_rewards ? 1 / std::sqrt(state_.returns.variance(0) + 1e-8) : 1;
  find_advantages(rollout_, settings_.gamma, settings_.lambda, scale, settings_.reward_limit);
  PpoProgress row;
  row.explained_variance = explained_variance(rollout_);
  if (settings_.normalise_advantages) normalise(rollout_.advantages);

  const PpoLossWeights loss_weights = weights();
  row.learning_rate = settings_.learning_rate.at(progress());
  Random shuffle(settings_.seed, "shuffle", static_cast<std::uint64_t>(state_.iteration));
  std::iota(order_.begin(), order_.end(), 0U);
  Epoch epoch;
  for (int e = 0; e < settings_.epochs; ++e) {
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[shuffle.below(i)]);
    epoch = run_epoch(loss_weights, row.learning_rate);
    row.skipped += epoch.skipped;
    const double kl = epoch.sums.kl / epoch.sums.rows;
    if (settings_.kl_stop > 0 && kl > settings_.kl_stop) break;
  }
  // Of the last epoch, where the network is furthest from the one that made the rollout.
  const PpoLossSums& sums = epoch.sums;
  row.policy_loss = sums.policy / sums.rows;
  row.value_loss = sums.value / sums.rows;
  row.entropy = sums.entropy / sums.rows;
  row.kl = sums.kl / sums.rows;
  row.clip_fraction = sums.clipped / sums.rows;
  row.gradient_length = epoch.gradient_length / epoch.minibatches;
  if (!settings_.clipped) adapt_kl_weight(row.kl);

  row.iteration = ++state_.iteration;
  row.steps = state_.steps += static_cast<std::int64_t>(rollout_.rows());
  const auto finished = environment_.take_finished();
  row.mean_return = finished.mean_return;
  row.mean_et = finished.mean_et;
  row.episodes = static_cast<std::int64_t>(finished.episodes);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  row.steps_per_s = static_cast<double>(rollout_.rows()) / seconds.count();
  return row;
}

void Ppo::put_policy(TensorFile& file) const {
  put_network(file, state_.network);
  Normaliser normaliser = state_.observations.frozen();
  if (!settings_.normalise_observations) {
    std::fill(normaliser.mean.begin(), normaliser.mean.end(), 0.0F);
    std::fill(normaliser.scale.begin(), normaliser.scale.end(), 1.0F);
  }
  put_normaliser(file, normaliser);
}

}  // namespace smartmig
