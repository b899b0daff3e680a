#include "policy/beside.h"

#include <algorithm>
#include <bit>

namespace smartmig {

void Beside::know(std::span<const Board* const> boards) {
  if (std::equal(boards.begin(), boards.end(), boards_.begin(), boards_.end())) return;
  boards_.assign(boards.begin(), boards.end());
  entries_.assign(std::size_t{1} << kPlacesLog2, {});
}

void Beside::work_out(const Board& board, SlotSet set, Entry& entry) {
  entry.board = &board;
  entry.set = set;
  entry.addable = 0;
  for (SlotSet rest = base_slots(board) & ~set; rest; rest &= rest - 1) {
    if (can_add(board, set, std::countr_zero(rest))) entry.addable |= rest & -rest;
  }
  entry.room =
      largest_creatable(board, set) + 0.1 * (board.compute_slices - compute_slices(board, set));
}

}  // namespace smartmig
