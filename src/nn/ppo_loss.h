// The loss of proximal policy optimisation (Schulman et al. 2017) over some rows of a minibatch,
// with its derivatives with respect to logits and values. Both objectives of the article: the
// clipped ratio, and the plain ratio with a penalty on the divergence from the old policy. Actions
// are counts of members by option (nn/masked_categorical.h); their log probability is the sum of
// count * log p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smartmig {

struct PpoLossWeights {
  bool clipped = true;    // Else the divergence is penalised.
  double clip = 0.2;      // Of the ratio, about 1.
  double kl = 0;          // Of the mean divergence, where not clipped.
  double value = 0.5;     // Of the mean square error of the values.
  double value_clip = 0;  // How far a value may move from the old one; 0: any distance.
  double entropy = 0;     // Of the mean entropy, which is wanted large.
};

// Rows of a batch; sizes as in masked_categorical.h.
struct PpoRows {
  int options = 1;
  std::span<const std::uint8_t> masks;
  std::span<const std::uint16_t> members;
  std::span<const std::uint16_t> counts;
  std::span<const float> old_probabilities;      // Only for the penalty, else empty.
  std::span<const float> old_log_probabilities;  // One for each row, of what was chosen.
  std::span<const float> advantages;
  std::span<const float> returns;
  std::span<const float> old_values;
};

// Sums over rows; the caller adds the chunks of a minibatch in order.
struct PpoLossSums {
  double policy = 0;
  double value = 0;
  double entropy = 0;
  double kl = 0;  // Schulman's estimate from the ratios, (r - 1) - log r; exact where penalised.
  double clipped = 0;  // Rows whose ratio the clip holds back or would.
  double rows = 0;

  void add(const PpoLossSums& other);
  double loss(const PpoLossWeights& weights) const;  // The mean, all parts weighted.
};

struct PpoLossScratch {
  std::vector<float> probabilities;
  std::vector<float> log_probabilities;
};

// Writes derivatives of the mean over a minibatch of `minibatch` rows, of which these are a part.
PpoLossSums ppo_loss(const PpoLossWeights& weights, const PpoRows& rows, std::size_t minibatch,
                     std::span<const float> logits, std::span<const float> values,
                     PpoLossScratch& scratch, std::span<float> d_logits, std::span<float> d_values);

// Adds the derivatives of the mean cross entropy between advised counts and the probabilities that
// ppo_loss() left in the scratch; the advised members of a row weigh 1 together.
void add_advice(double weight, std::span<const std::uint16_t> advice, std::size_t rows,
                std::size_t minibatch, const PpoLossScratch& scratch, int options,
                std::span<float> d_logits);

}  // namespace smartmig
