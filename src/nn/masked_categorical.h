// Choices among options of which some are not allowed. A row (one example) has one or several
// heads, a head one line of logits, one for each option; the members of a head each choose an
// option of it, so that what was chosen is a count for every option. Arrays are row-major: rows x
// heads x options for logits, masks (1: allowed), probabilities and counts, rows x heads for
// members. A head without members takes no part, and its line may allow nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"

namespace smartmig {

// Probabilities, exactly 0 where masked, and their logarithms, 0 where masked: a sum over p * log p
// or count * log p needs no mask. `members` may be empty: then every line is worked out.
void masked_softmax(std::span<const float> logits, std::span<const std::uint8_t> masks,
                    std::span<const std::uint16_t> members, int options,
                    std::span<float> probabilities, std::span<float> log_probabilities);

// Leaves in each line's mask only the `keep` most likely of the allowed options, ties to the lowest
// index; all of them where there are no more, or `keep` is 0.
void keep_most_likely(std::span<const float> logits, int options, int keep,
                      std::span<std::uint8_t> masks);

// How many of the members of one line take each option. Few members draw one by one, many by
// binomial splitting, so that a million cost no more than a hundred. Sets all of `counts`.
void sample_counts(std::span<const float> probabilities, std::uint32_t members, Random& random,
                   std::span<std::uint16_t> counts);
void sample_counts(std::span<const float> probabilities, std::uint32_t members, Random& random,
                   std::span<std::uint32_t> counts);

// Of one row: sum of count * log p.
double log_probability(std::span<const float> log_probabilities,
                       std::span<const std::uint16_t> counts);

// Of one row, in nats: the heads' entropies weighted by their share of the members.
double entropy(std::span<const float> probabilities, std::span<const float> log_probabilities,
               std::span<const std::uint16_t> members, int options);

// The option with the largest logit among the allowed, the first of several; -1 where none is.
int most_likely(std::span<const float> logits, std::span<const std::uint8_t> mask);

}  // namespace smartmig
