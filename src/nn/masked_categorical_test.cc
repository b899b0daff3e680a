#include "nn/masked_categorical.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace smartmig {
namespace {

TEST(MaskedCategorical, GivesExactlyZeroToWhatIsNotAllowed) {
  Random random(1, "mask");
  constexpr int kOptions = 7;
  std::vector<float> logits(20 * kOptions);
  std::vector<std::uint8_t> masks(logits.size());
  for (float& x : logits) x = static_cast<float>(30 * random.normal());
  for (auto& x : masks) x = random.below(2) == 1;
  std::vector<float> p(logits.size());
  std::vector<float> log_p(logits.size());
  masked_softmax(logits, masks, {}, kOptions, p, log_p);
  for (std::size_t at = 0; at < logits.size(); at += kOptions) {
    double sum = 0;
    for (std::size_t o = at; o < at + kOptions; ++o) {
      if (masks[o]) sum += std::exp(static_cast<double>(logits[o]));
    }
    for (std::size_t o = at; o < at + kOptions; ++o) {
      if (!masks[o]) {
        EXPECT_EQ(p[o], 0);
        EXPECT_EQ(log_p[o], 0);
      } else {
        EXPECT_NEAR(p[o], std::exp(static_cast<double>(logits[o])) / sum, 1e-6);
        EXPECT_NEAR(log_p[o], logits[o] - std::log(sum), 1e-4);
      }
    }
  }
}

TEST(MaskedCategorical, BearsLogitsOfAnySize) {
  const std::array<float, 3> logits = {3e38F, -3e38F, 3e38F};
  const std::array<std::uint8_t, 3> mask = {1, 1, 1};
  std::array<float, 3> p{};
  std::array<float, 3> log_p{};
  masked_softmax(logits, mask, {}, 3, p, log_p);
  EXPECT_EQ(p[0], 0.5F);
  EXPECT_EQ(p[1], 0.0F);
  const std::array<float, 3> low = {-3e38F, 1, 1};
  const std::array<std::uint8_t, 3> only_first = {1, 0, 0};
  masked_softmax(low, only_first, {}, 3, p, log_p);
  EXPECT_EQ(p[0], 1.0F);
}

TEST(MaskedCategorical, LeavesHeadsWithoutMembersAtZero) {
  const std::array<float, 4> logits = {1, 2, 3, 4};
  const std::array<std::uint8_t, 4> masks = {1, 1, 1, 1};
  const std::array<std::uint16_t, 2> members = {0, 3};
  std::array<float, 4> p{9, 9, 9, 9};
  std::array<float, 4> log_p{9, 9, 9, 9};
  masked_softmax(logits, masks, members, 2, p, log_p);
  EXPECT_EQ(p[0] + p[1] + log_p[0] + log_p[1], 0);
  EXPECT_NEAR(p[2] + p[3], 1, 1e-6);
  // One head of two takes part: its entropy is the row's.
  const double h = -(p[2] * std::log(p[2]) + p[3] * std::log(p[3]));
  EXPECT_NEAR(entropy(p, log_p, members, 2), h, 1e-6);
}

TEST(MaskedCategorical, KeepsTheMostLikelyAndOfEqualsTheFirst) {
  const std::vector<float> logits = {1, 5, 5, 5, 2, 0, 0, 0, 0, 9};
  std::vector<std::uint8_t> masks = {1, 0, 1, 1, 1, 1, 1, 1, 1, 0};
  keep_most_likely(logits, 5, 2, masks);
  EXPECT_EQ(masks, (std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1, 1, 0, 0, 0}));
  std::vector<std::uint8_t> few = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  keep_most_likely(logits, 5, 2, few);
  EXPECT_EQ(few, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(most_likely(std::span(logits).first(5), std::span(masks).first(5)), 2);
}

// Frequencies over many draws, each within five standard deviations.
template <class Count>
void expect_frequencies(std::uint32_t members, int draws) {
  const std::vector<float> p = {0.5F, 0, 0.3F, 0.15F, 0, 0.05F, 0};
  std::vector<Count> counts(p.size());
  std::vector<double> sums(p.size());
  Random random(5, "sample", members);
  for (int i = 0; i < draws; ++i) {
    sample_counts(p, members, random, counts);
    ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), members);
    for (std::size_t o = 0; o < p.size(); ++o) sums[o] += counts[o];
  }
  const double n = static_cast<double>(members) * draws;
  for (std::size_t o = 0; o < p.size(); ++o) {
    EXPECT_NEAR(sums[o] / n, p[o], 5 * std::sqrt(p[o] * (1 - p[o]) / n)) << "option " << o;
  }
}

TEST(MaskedCategorical, DrawsByTheProbabilitiesForFewAndManyMembers) {
  expect_frequencies<std::uint16_t>(1, 100'000);
  expect_frequencies<std::uint16_t>(8, 20'000);
  expect_frequencies<std::uint16_t>(9, 20'000);
  expect_frequencies<std::uint16_t>(60'000, 2000);
  expect_frequencies<std::uint32_t>(1'000'000, 2000);
}

TEST(MaskedCategorical, SumsTheLogarithmsOfWhatWasChosen) {
  const std::array<float, 4> log_p = {-1, -2, 0, -3};
  const std::array<std::uint16_t, 4> counts = {2, 0, 0, 5};
  EXPECT_DOUBLE_EQ(log_probability(log_p, counts), -17);
}

}  // namespace
}  // namespace smartmig
