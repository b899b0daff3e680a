#include "policy/layout_assignment.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <numeric>

#include "base/random.h"

namespace smartmig {
namespace {

const Board& board_of(const char* name) { return **BoardTable::shipped().find(name); }

SliceValues worth(std::array<std::int32_t, kSizeCount> by_size, std::uint8_t slot = kNoSlice) {
  return {by_size, slot};
}

std::string text_of(const Board& board, const LayoutAssignment& found, std::size_t jobs) {
  if (!found.found) return "none";
  std::string text = layout_name(board, found.set);
  for (std::size_t i = 0; i < jobs; ++i) {
    const Slot& slot = board.slots[found.slots[i]];
    text += fmt::format(" {}@{}", board.profiles[slot.profile].compute_slices, slot.start);
  }
  return text;
}

std::string best_for(const std::vector<SliceValues>& jobs) {
  const Board& board = board_of("A100-40GB");
  return text_of(board, MaximalPlacements(board).assign(jobs), jobs.size());
}

TEST(LayoutAssignment, TakesTheLargestSumOfSpeeds) {
  const SliceValues linear = worth({1, 2, 3, 4, 7});
  const SliceValues flat = worth({7, 7, 7, 7, 7});
  EXPECT_EQ(best_for({linear}), "7 7@0");
  EXPECT_EQ(best_for({linear, linear}), "4-3 4@0 3@4");
  EXPECT_EQ(best_for({flat, linear}), "4-3 3@4 4@0");
  EXPECT_EQ(best_for({flat, flat, linear}), "4-2-1 2@4 1@6 4@0");
  EXPECT_EQ(best_for({linear, linear, linear, linear, linear, linear, linear}),
            "1-1-1-1-1-1-1 1@0 1@1 1@2 1@3 1@4 1@5 1@6");
}

TEST(LayoutAssignment, KeepsSlicesWhereSumsAreEqual) {
  const Board& board = board_of("A100-40GB");
  const auto two =
      MaximalPlacements(board).assign(std::vector{worth({1, 2, 3, 4, 7}), worth({1, 2, 3, 4, 7})});
  EXPECT_EQ(best_for({worth({1, 2, 3, 4, 7}, two.slots[1]), worth({1, 2, 3, 4, 7})}),
            "4-3 3@4 4@0");
}

TEST(LayoutAssignment, FindsNoneWhereAJobHasNoSlice) {
  const SliceValues large = worth({kNotThere, kNotThere, kNotThere, 4, 7});
  EXPECT_EQ(best_for({large, large}), "none");
  EXPECT_EQ(best_for({worth({1, 2, 3, 4, 7}), large}), "4-3 3@4 4@0");
}

// All sets and all assignments, one by one.
std::pair<long, int> best_by_trying(const Board& board, const std::vector<SliceValues>& jobs) {
  std::pair<long, int> best = {-1, 0};
  for (const SlotSet set : maximal_sets(board, base_slots(board))) {
    const std::function<void(std::size_t, SlotSet, long, int)> go = [&](std::size_t job,
                                                                        SlotSet rest, long sum,
                                                                        int keeps) {
      if (job == jobs.size()) {
        best = std::max(best, std::pair(sum, keeps));
        return;
      }
      for (SlotSet slots = rest; slots; slots &= slots - 1) {
        const int slot = std::countr_zero(slots);
        const int compute = board.profiles[board.slots[slot].profile].compute_slices;
        const std::int32_t value = jobs[job].by_size[size_index(compute)];
        if (value == kNotThere) continue;
        go(job + 1, rest & ~(SlotSet{1} << slot), sum + value, keeps + (jobs[job].slot == slot));
      }
    };
    go(0, set, 0, 0);
  }
  return best;
}

TEST(LayoutAssignment, FindsWhatTryingAllFinds) {
  Random random(1, "layout assignment");
  for (const char* name : {"A100-40GB", "A30"}) {
    const Board& board = board_of(name);
    const MaximalPlacements placements(board);
    for (int i = 0; i < 300; ++i) {
      std::vector<SliceValues> jobs(1 + random.below(5));
      for (SliceValues& job : jobs) {
        for (auto& value : job.by_size)
          value = random.below(6) == 0 ? kNotThere : static_cast<std::int32_t>(random.below(5));
        if (random.below(2)) job.slot = static_cast<std::uint8_t>(random.below(board.slots.size()));
      }
      const LayoutAssignment found = placements.assign(jobs);
      const auto [sum, keeps] = best_by_trying(board, jobs);
      ASSERT_EQ(found.found, sum >= 0) << name << " " << i;
      if (!found.found) continue;
      long own_sum = 0;
      int own_keeps = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        const Slot& slot = board.slots[found.slots[j]];
        ASSERT_TRUE(found.set >> found.slots[j] & 1);
        own_sum += jobs[j].by_size[size_index(board.profiles[slot.profile].compute_slices)];
        own_keeps += jobs[j].slot == found.slots[j];
      }
      ASSERT_EQ(own_sum, sum) << name << " " << i;
      ASSERT_EQ(own_keeps, keeps) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace smartmig
