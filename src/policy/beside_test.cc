#include "policy/beside.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace smartmig {
namespace {

void expect_as_worked_out_anew(Beside& beside, const Board& board, SlotSet set) {
  SlotSet addable = 0;
  for (std::size_t slot = 0; slot < board.slots.size(); ++slot) {
    const bool base = board.profiles[board.slots[slot].profile].kind == ProfileKind::kBase;
    const SlotSet bit = SlotSet{1} << slot;
    if (base && !(set & bit) && is_legal(board, set | bit)) addable |= bit;
  }
  int largest = 0;
  for (SlotSet rest = addable; rest; rest &= rest - 1) {
    const Slot& slot = board.slots[std::countr_zero(rest)];
    largest = std::max(largest, board.profiles[slot.profile].compute_slices);
  }
  const Beside::Entry entry = beside.of(board, set);
  ASSERT_EQ(entry.addable, addable) << board.name << " " << layout_name(board, set);
  ASSERT_EQ(entry.room, largest + 0.1 * (board.compute_slices - compute_slices(board, set)))
      << board.name << " " << layout_name(board, set);
}

// More sets than it remembers, on two boards whose sets are the same numbers, in any order.
TEST(Beside, AnswersAsIfEachSetWereWorkedOutAnew) {
  const Board& a100 = **BoardTable::shipped().find("A100-40GB");
  const Board& h100 = **BoardTable::shipped().find("H100-80GB");
  const std::vector boards = {&a100, &h100};
  std::vector<std::vector<SlotSet>> sets;
  for (const Board* board : boards) sets.push_back(legal_sets(*board, all_slots(*board)));
  ASSERT_GT(sets[0].size(), 2000u);
  Beside beside;
  beside.know(boards);
  Random random(1, "beside");
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t b = random.below(2);
    // Mostly among few, so that it has some of them.
    const std::size_t among = i % 4 == 0 ? sets[b].size() : 40;
    ASSERT_NO_FATAL_FAILURE(
        expect_as_worked_out_anew(beside, *boards[b], sets[b][random.below(among)]));
  }
}

TEST(Beside, KnowsWhenTheBoardsAreOthers) {
  Board board = **BoardTable::shipped().find("A100-40GB");
  const Board& other = **BoardTable::shipped().find("A30");
  Beside beside;
  beside.know(std::vector<const Board*>{&board});
  ASSERT_NO_FATAL_FAILURE(expect_as_worked_out_anew(beside, board, 0));
  beside.know(std::vector{&other});
  board.compute_slices = 3;
  beside.know(std::vector<const Board*>{&board});
  ASSERT_NO_FATAL_FAILURE(expect_as_worked_out_anew(beside, board, 0));
}

}  // namespace
}  // namespace smartmig
