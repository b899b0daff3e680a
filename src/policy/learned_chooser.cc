#include "policy/learned_chooser.h"

#include <algorithm>

#include "nn/masked_categorical.h"

namespace smartmig {

LearnedChooser::LearnedChooser(std::shared_ptr<const LearnedPolicy> policy, std::uint64_t seed)
    : policy_(std::move(policy)), random_(seed, "learned policy") {
  const NetworkShape& shape = policy_->network.shape();
  const auto board = BoardTable::shipped().find(settings().board);
  SM_CHECK(board.has_value());
  options_ = static_cast<std::size_t>(learned_shape(settings(), **board).options);
  inputs_.resize(static_cast<std::size_t>(shape.inputs));
  normalised_.resize(inputs_.size());
  const auto outputs = static_cast<std::size_t>(shape.outputs);
  logits_.resize(outputs);
  probabilities_.resize(outputs);
  log_probabilities_.resize(outputs);
  allowed_.assign(outputs, 1);
  counts_.resize(outputs);
}

void LearnedChooser::think() {
  const auto options = static_cast<int>(options_);
  policy_->normaliser.apply(inputs_, normalised_);
  policy_->network.forward(normalised_, 1, workspace_, logits_, {});
  if (!settings().sample) return;
  keep_most_likely(logits_, options, settings().keep, allowed_);
  masked_softmax(logits_, allowed_, {}, options, probabilities_, log_probabilities_);
}

std::span<const std::uint32_t> LearnedChooser::choose(int head, std::uint32_t members) {
  const std::size_t at = static_cast<std::size_t>(head) * options_;
  const std::span<std::uint32_t> counts = counts_of(head);
  if (settings().sample) {
    sample_counts(std::span(probabilities_).subspan(at, options_), members, random_, counts);
    return counts;
  }
  std::fill(counts.begin(), counts.end(), 0);
  const int option = most_likely(std::span(logits_).subspan(at, options_),
                                 std::span(allowed_).subspan(at, options_));
  SM_CHECK(option >= 0);
  counts[static_cast<std::size_t>(option)] = members;
  return counts;
}

int LearnedChooser::choose_one() {
  const auto counts = choose(0, 1);
  return static_cast<int>(std::find(counts.begin(), counts.end(), 1u) - counts.begin());
}

}  // namespace smartmig
