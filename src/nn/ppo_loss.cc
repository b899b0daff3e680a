#include "nn/ppo_loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/result.h"
#include "nn/flush_denormals.h"
#include "nn/masked_categorical.h"

namespace smartmig {
namespace {

// A ratio beyond this means the policies share nothing any more; the exponential stays finite.
constexpr double kLargestLogRatio = 20;

struct Row {
  std::span<const float> p;
  std::span<const float> log_p;
  std::span<const float> old_p;
  std::span<const std::uint16_t> members;
  std::span<const std::uint16_t> counts;
};

double total_members(std::span<const std::uint16_t> members) {
  double total = 0;
  for (std::uint16_t m : members) total += m;
  return total;
}

double head_entropy(const Row& row, std::size_t head, int options) {
  double sum = 0;
  for (std::size_t i = head * options; i < (head + 1) * options; ++i) {
    sum -= static_cast<double>(row.p[i]) * row.log_p[i];
  }
  return sum;
}

// KL(old || new) of the row's joint choice.
double divergence(const Row& row, int options) {
  double sum = 0;
  for (std::size_t head = 0; head < row.members.size(); ++head) {
    if (row.members[head] == 0) continue;
    double of_head = 0;
    for (std::size_t i = head * options; i < (head + 1) * options; ++i) {
      const double old = row.old_p[i];
      if (old > 0) of_head += old * (std::log(old) - row.log_p[i]);
    }
    sum += row.members[head] * of_head;
  }
  return sum;
}

// Derivatives by the logits: of the log probability count - members * p, of a head's entropy
// -p (log p + entropy), of its divergence p - old p. Returns the row's entropy.
double logit_derivatives(const Row& row, int options, double d_log_probability, double d_entropy,
                         double d_kl, float* out) {
  const double total = total_members(row.members);
  double row_entropy = 0;
  for (std::size_t head = 0; head < row.members.size(); ++head) {
    const std::size_t at = head * options;
    if (row.members[head] == 0) {
      std::fill_n(out + at, options, 0.0F);
      continue;
    }
    const double members = row.members[head];
    const double of_head = head_entropy(row, head, options);
    row_entropy += members / total * of_head;
    const auto d_choice = static_cast<float>(d_log_probability);
    const auto d_all = static_cast<float>(d_log_probability * members);
    const auto d_disorder = static_cast<float>(d_entropy * members / total);
    const auto shift = static_cast<float>(of_head);
    for (std::size_t i = at; i < at + options; ++i) {
      out[i] = d_choice * static_cast<float>(row.counts[i]) - d_all * row.p[i] -
               d_disorder * row.p[i] * (row.log_p[i] + shift);
    }
    if (row.old_p.empty()) continue;
    const auto d_apart = static_cast<float>(d_kl * members);
    for (std::size_t i = at; i < at + options; ++i) out[i] += d_apart * (row.p[i] - row.old_p[i]);
  }
  return row_entropy;
}

struct PolicyTerm {
  double loss = 0;
  double derivative = 0;  // By the log probability.
  bool clipped = false;
};

PolicyTerm policy_term(const PpoLossWeights& weights, double ratio, double advantage) {
  PolicyTerm term;
  term.clipped = std::abs(ratio - 1) > weights.clip;
  term.loss = -ratio * advantage;
  term.derivative = -ratio * advantage;
  if (!weights.clipped) return term;
  const double bounded = -std::clamp(ratio, 1 - weights.clip, 1 + weights.clip) * advantage;
  if (bounded > term.loss) term = {bounded, 0, term.clipped};
  return term;
}

// The square error and its derivative by the value.
std::pair<double, double> value_term(const PpoLossWeights& weights, double value, double old,
                                     double target) {
  const double error = value - target;
  if (weights.value_clip > 0) {
    const double moved = std::clamp(value - old, -weights.value_clip, weights.value_clip);
    const double bounded = old + moved - target;
    if (bounded * bounded > error * error) return {bounded * bounded, 0};
  }
  return {error * error, 2 * error};
}

}  // namespace

void PpoLossSums::add(const PpoLossSums& other) {
  policy += other.policy;
  value += other.value;
  entropy += other.entropy;
  kl += other.kl;
  clipped += other.clipped;
  rows += other.rows;
}

double PpoLossSums::loss(const PpoLossWeights& weights) const {
  const double penalty = weights.clipped ? 0 : weights.kl * kl;
  return (policy + weights.value * value - weights.entropy * entropy + penalty) / rows;
}

PpoLossSums ppo_loss(const PpoLossWeights& weights, const PpoRows& rows, std::size_t minibatch,
                     std::span<const float> logits, std::span<const float> values,
                     PpoLossScratch& scratch, std::span<float> d_logits,
                     std::span<float> d_values) {
  const std::size_t count = rows.advantages.size();
  const std::size_t heads = rows.members.size() / count;
  const std::size_t size = heads * rows.options;
  SM_CHECK(logits.size() == count * size && rows.counts.size() == count * size);
  SM_CHECK(d_logits.size() == logits.size() && d_values.size() == values.size());
  SM_CHECK(weights.clipped || rows.old_probabilities.size() == logits.size());
  const FlushDenormals flush;
  scratch.probabilities.resize(std::max(scratch.probabilities.size(), logits.size()));
  scratch.log_probabilities.resize(scratch.probabilities.size());
  const std::span p(scratch.probabilities.data(), logits.size());
  const std::span log_p(scratch.log_probabilities.data(), logits.size());
  masked_softmax(logits, rows.masks, rows.members, rows.options, p, log_p);

  const double share = 1 / static_cast<double>(minibatch);
  PpoLossSums sums;
  for (std::size_t r = 0; r < count; ++r) {
    Row row{p.subspan(r * size, size),
            log_p.subspan(r * size, size),
            {},
            rows.members.subspan(r * heads, heads),
            rows.counts.subspan(r * size, size)};
    if (!weights.clipped) row.old_p = rows.old_probabilities.subspan(r * size, size);
    const double log_ratio =
        std::clamp(log_probability(row.log_p, row.counts) - rows.old_log_probabilities[r],
                   -kLargestLogRatio, kLargestLogRatio);
    const double ratio = std::exp(log_ratio);
    const PolicyTerm policy = policy_term(weights, ratio, rows.advantages[r]);
    sums.policy += policy.loss;
    sums.clipped += policy.clipped;
    sums.kl += weights.clipped ? ratio - 1 - log_ratio : divergence(row, rows.options);
    sums.entropy +=
        logit_derivatives(row, rows.options, policy.derivative * share, -weights.entropy * share,
                          weights.kl * share, d_logits.data() + r * size);
    if (values.empty()) continue;
    const double old = weights.value_clip > 0 ? rows.old_values[r] : 0;
    const auto [error, derivative] = value_term(weights, values[r], old, rows.returns[r]);
    sums.value += error;
    d_values[r] = static_cast<float>(weights.value * share * derivative);
  }
  sums.rows = static_cast<double>(count);
  return sums;
}

void add_advice(double weight, std::span<const std::uint16_t> advice, std::size_t rows,
                std::size_t minibatch, const PpoLossScratch& scratch, int options,
                std::span<float> d_logits) {
  const std::size_t size = advice.size() / rows;
  const auto line = static_cast<std::size_t>(options);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto advised = advice.subspan(row * size, size);
    const int members = std::accumulate(advised.begin(), advised.end(), 0);
    if (members == 0) continue;
    const double scale = weight / (static_cast<double>(minibatch) * members);
    for (std::size_t at = 0; at < size; at += line) {
      const auto counts = advised.subspan(at, line);
      const int of_head = std::accumulate(counts.begin(), counts.end(), 0);
      if (of_head == 0) continue;
      for (std::size_t o = 0; o < line; ++o) {
        const std::size_t i = row * size + at + o;
        d_logits[i] +=
            static_cast<float>(scale * (of_head * double{scratch.probabilities[i]} - counts[o]));
      }
    }
  }
}

}  // namespace smartmig
