#include "nn/ppo_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/masked_categorical.h"

namespace smartmig {
namespace {

constexpr int kHeads = 2;
constexpr int kOptions = 4;
constexpr std::size_t kSize = kHeads * kOptions;
constexpr std::size_t kRows = 12;

// Rows as a rollout leaves them: a mask, members, what they chose under old probabilities.
struct Batch {
  std::vector<std::uint8_t> masks = std::vector<std::uint8_t>(kRows * kSize);
  std::vector<std::uint16_t> members = std::vector<std::uint16_t>(kRows * kHeads);
  std::vector<std::uint16_t> counts = std::vector<std::uint16_t>(kRows * kSize);
  std::vector<float> old_p = std::vector<float>(kRows * kSize);
  std::vector<float> old_log_p = std::vector<float>(kRows);
  std::vector<float> advantages = std::vector<float>(kRows);
  std::vector<float> returns = std::vector<float>(kRows);
  std::vector<float> old_values = std::vector<float>(kRows);
  std::vector<float> logits = std::vector<float>(kRows * kSize);
  std::vector<float> values = std::vector<float>(kRows);

  explicit Batch(std::uint64_t seed) {
    Random random(seed, "batch");
    const auto fill = [&](std::vector<float>& out, double scale) {
      for (float& x : out) x = static_cast<float>(scale * random.normal());
    };
    for (std::size_t i = 0; i < masks.size(); ++i) masks[i] = i % kOptions == 1 || random.below(3);
    for (auto& m : members) m = static_cast<std::uint16_t>(random.below(4));
    std::vector<float> old(kRows * kSize);
    std::vector<float> log_p(kRows * kSize);
    fill(old, 1);
    masked_softmax(old, masks, members, kOptions, old_p, log_p);
    for (std::size_t line = 0; line < kRows * kHeads; ++line) {
      sample_counts(std::span(old_p).subspan(line * kOptions, kOptions), members[line], random,
                    std::span(counts).subspan(line * kOptions, kOptions));
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      old_log_p[r] = static_cast<float>(log_probability(
          std::span(log_p).subspan(r * kSize, kSize), std::span(counts).subspan(r * kSize, kSize)));
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      logits[i] = old[i] + static_cast<float>(0.3 * random.normal());
    }
    fill(advantages, 1);
    fill(returns, 1);
    fill(old_values, 1);
    fill(values, 1);
  }

  PpoRows rows() const {
    return {kOptions, masks, members, counts, old_p, old_log_p, advantages, returns, old_values};
  }
};

struct Loss {
  double mean = 0;
  std::vector<float> d_logits = std::vector<float>(kRows * kSize);
  std::vector<float> d_values = std::vector<float>(kRows);
};

Loss loss_of(const Batch& batch, const PpoLossWeights& weights) {
  Loss out;
  PpoLossScratch scratch;
  const auto sums = ppo_loss(weights, batch.rows(), kRows, batch.logits, batch.values, scratch,
                             out.d_logits, out.d_values);
  out.mean = sums.loss(weights);
  return out;
}

void expect_finite_differences(const PpoLossWeights& weights) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Batch batch(seed);
    const Loss loss = loss_of(batch, weights);
    const auto check = [&](float& x, double derivative, const char* what) {
      // Floats: a wide step, and as much tolerance as rounding leaves.
      constexpr float kStep = 1e-2F;
      const float at = x;
      x = at + kStep;
      const double above = loss_of(batch, weights).mean;
      x = at - kStep;
      const double below = loss_of(batch, weights).mean;
      x = at;
      // A kink of the clip within the step makes the two sides differ.
      const double left = (loss.mean - below) / kStep;
      const double right = (above - loss.mean) / kStep;
      if (std::abs(left - right) > 0.02) return;
      EXPECT_NEAR(derivative, (left + right) / 2, 1e-4) << what << ", seed " << seed;
    };
    for (std::size_t i = 0; i < batch.logits.size(); ++i) {
      check(batch.logits[i], loss.d_logits[i], "logit");
    }
    for (std::size_t i = 0; i < kRows; ++i) check(batch.values[i], loss.d_values[i], "value");
  }
}

TEST(PpoLoss, HasTheGradientOfFiniteDifferencesWhereClipped) {
  expect_finite_differences({.clip = 0.15, .value = 0.5, .value_clip = 0.2, .entropy = 0.05});
}

TEST(PpoLoss, HasTheGradientOfFiniteDifferencesWherePenalised) {
  expect_finite_differences({.clipped = false, .kl = 0.7, .value = 0.3, .entropy = 0.02});
}

TEST(PpoLoss, DoesNotPushFurtherWhatTheClipHolds) {
  Batch batch(9);
  // Far more likely than before and good: nothing to gain.
  for (float& a : batch.advantages) a = 1;
  for (float& old : batch.old_log_p) old -= 5;
  const Loss loss = loss_of(batch, {.clip = 0.2, .value = 0});
  for (float d : loss.d_logits) EXPECT_EQ(d, 0);
  EXPECT_NEAR(loss.mean, -1.2, 1e-9);
}

TEST(PpoLoss, IsTheSumOfItsChunks) {
  const Batch batch(3);
  const PpoLossWeights weights{.entropy = 0.01};
  const Loss whole = loss_of(batch, weights);
  PpoLossScratch scratch;
  PpoLossSums sums;
  std::vector<float> d_logits(kRows * kSize);
  std::vector<float> d_values(kRows);
  constexpr std::size_t kChunk = 5;
  for (std::size_t at = 0; at < kRows; at += kChunk) {
    const std::size_t n = std::min(kChunk, kRows - at);
    const auto part = [&](auto& all, std::size_t width) {
      return std::span(all).subspan(at * width, n * width);
    };
    const PpoRows rows{kOptions,
                       part(batch.masks, kSize),
                       part(batch.members, kHeads),
                       part(batch.counts, kSize),
                       part(batch.old_p, kSize),
                       part(batch.old_log_p, 1),
                       part(batch.advantages, 1),
                       part(batch.returns, 1),
                       part(batch.old_values, 1)};
    sums.add(ppo_loss(weights, rows, kRows, part(batch.logits, kSize), part(batch.values, 1),
                      scratch, part(d_logits, kSize), part(d_values, 1)));
  }
  EXPECT_EQ(d_logits, whole.d_logits);
  EXPECT_EQ(d_values, whole.d_values);
  EXPECT_NEAR(sums.loss(weights), whole.mean, 1e-12);
}

TEST(Advice, DerivativesAreThoseOfTheCrossEntropy) {
  // Two heads of three options; the second row is advised nothing.
  const std::vector<float> logits = {0.5F, -1, 2, 0, 0.3F, -0.2F, 1, 1, 1, 1, 1, 1};
  const std::vector<std::uint16_t> advice = {1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<std::uint8_t> masks(12, 1);
  const auto loss = [&](const std::vector<float>& at) {
    std::vector<float> p(12);
    std::vector<float> log_p(12);
    masked_softmax(at, masks, {}, 3, p, log_p);
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum -= advice[i] * double{log_p[i]} / 4;
    return 0.7 * sum / 5;
  };
  PpoLossScratch scratch;
  scratch.probabilities.resize(12);
  scratch.log_probabilities.resize(12);
  masked_softmax(logits, masks, {}, 3, scratch.probabilities, scratch.log_probabilities);
  std::vector<float> found(12, 1);  // It adds.
  add_advice(0.7, advice, 2, 5, scratch, 3, found);
  for (int i = 0; i < 12; ++i) {
    auto up = logits;
    auto down = logits;
    up[i] += 0.01F;
    down[i] -= 0.01F;
    EXPECT_NEAR(found[i] - 1, (loss(up) - loss(down)) / 0.02, 1e-4) << i;
  }
}

}  // namespace
}  // namespace smartmig
