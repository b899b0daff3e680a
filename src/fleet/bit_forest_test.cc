#include "fleet/bit_forest.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace smartmig {
namespace {

// Both sides of each limit: one word, one level, two levels of 64, three.
const std::vector<std::uint32_t> kSizesToTry = {1, 63, 64, 65, 4096, 4097, 100'000};
constexpr std::size_t kSets = 3;

std::uint32_t first_of_model(const std::set<std::uint32_t>& model) {
  return model.empty() ? UINT32_MAX : *model.begin();
}

std::uint64_t group_of_model(const std::set<std::uint32_t>& model, std::uint32_t i) {
  std::uint64_t bits = 0;
  for (std::uint32_t member = i; member / 64 == i / 64; ++member) {
    bits |= static_cast<std::uint64_t>(model.count(member)) << (member - i);
  }
  return bits;
}

TEST(BitForest, AgreesWithStdSetOverLongRandomSequences) {
  for (const std::uint32_t n : kSizesToTry) {
    SCOPED_TRACE(n);
    BitForest forest(kSets, n);
    std::vector<std::set<std::uint32_t>> model(kSets);
    Random random(1, "bit forest", n);
    for (int step = 0; step < 40'000; ++step) {
      const auto set = static_cast<std::size_t>(random.below(kSets));
      // Few distinct numbers at times, so that sets run empty again and again.
      const bool crowd = random.below(2);
      const auto i = crowd ? static_cast<std::uint32_t>(random.below(n))
                           : static_cast<std::uint32_t>(
                                 (n - 1) * static_cast<std::uint64_t>(random.below(4)) / 3);
      if (random.below(100) < (step < 20'000 ? 55u : 30u)) {
        ASSERT_EQ(forest.insert(set, i), model[set].empty()) << "insert " << i;
        model[set].insert(i);
      } else {
        const std::uint32_t victim =
            random.below(2) && !model[set].empty() ? *model[set].begin() : i;
        if (model[set].erase(victim) == 0) continue;
        ASSERT_EQ(forest.erase(set, victim), model[set].empty()) << "erase " << victim;
      }
      const auto next = model[set].lower_bound(i);
      ASSERT_EQ(forest.next(set, i), next == model[set].end() ? UINT32_MAX : *next);
      ASSERT_EQ(forest.first(set), first_of_model(model[set])) << "step " << step;
      ASSERT_EQ(forest.group(set, i), group_of_model(model[set], i)) << "step " << step;
      const std::uint64_t which = random.below(1 << kSets);
      std::uint32_t expected = UINT32_MAX;
      for (std::size_t k = 0; k < kSets; ++k) {
        if (which >> k & 1) expected = std::min(expected, first_of_model(model[k]));
      }
      ASSERT_EQ(forest.first_of(0, which), expected) << "sets " << which;
    }
  }
}

TEST(BitForest, GivesItsMembersInAscendingOrder) {
  for (const std::uint32_t n : kSizesToTry) {
    BitForest forest(1, n);
    std::set<std::uint32_t> model;
    Random random(2, "ascending", n);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (random.below(3) == 0 || i == n - 1) forest.insert(0, i), model.insert(i);
    }
    for (const std::uint32_t expected : model) {
      ASSERT_EQ(forest.first(0), expected) << "of " << n;
      forest.erase(0, expected);
    }
    EXPECT_EQ(forest.first(0), UINT32_MAX);
  }
}

TEST(BitForest, CopiesAreIndependent) {
  BitForest forest(2, 5000);
  forest.insert(1, 4999);
  BitForest copy = forest;
  copy.insert(1, 7);
  forest.erase(1, 4999);
  EXPECT_EQ(copy.first(1), 7u);
  EXPECT_EQ(forest.first(1), UINT32_MAX);
}

TEST(BitForest, TakesOverTheMembersOfAnother) {
  BitForest forest(2, 5000);
  forest.insert(1, 4999);
  BitForest other(2, 5000);
  other.insert(0, 3);
  other.copy_words(forest);
  EXPECT_EQ(other.first(0), UINT32_MAX);
  EXPECT_EQ(other.first(1), 4999u);
}

TEST(BitForestDeathTest, RefusesToEraseWhatIsNotThere) {
  for (const std::uint32_t n : {64u, 65u}) {
    BitForest forest(1, n);
    EXPECT_DEATH(forest.erase(0, 1), "bit_forest") << n;
  }
}

TEST(BitForest, HasRoomForNoNumbersAtAll) {
  const BitForest forest(4, 0);
  EXPECT_EQ(forest.first(3), UINT32_MAX);
}

}  // namespace
}  // namespace smartmig
