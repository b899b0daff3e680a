#include "policy/slice_places.h"

#include <algorithm>
#include <bit>

namespace smartmig {
namespace {

constexpr int kMostMemorySlices = 32;  // Of any board, as memory_range() has as many bits.

bool is_free_place(const Board& board, SlotSet taken, int slot) {
  if (board.conflicts[static_cast<std::size_t>(slot)] & taken) return false;
  return !is_legal(board, taken) || is_legal(board, taken | SlotSet{1} << slot);
}

// The sum of the compute sizes of the free places of base profiles that a slice here would block,
// its own among them.
int blocked_compute(const Board& board, SlotSet taken, int slot) {
  const SlotSet with = taken | SlotSet{1} << slot;
  int sum = 0;
  for (SlotSet rest = base_slots(board) & ~taken; rest; rest &= rest - 1) {
    const int other = std::countr_zero(rest);
    if (!is_free_place(board, taken, other)) continue;
    if (other == slot || !is_free_place(board, with, other))
      sum += board.profiles[board.slots[static_cast<std::size_t>(other)].profile].compute_slices;
  }
  return sum;
}

int rank_of(const Board& board, SlotSet taken, int slot, Fit fit) {
  const int taken_memory = std::popcount(memory_range(board, taken));
  switch (fit) {
    case Fit::kRoom:
      return blocked_compute(board, taken, slot);
    case Fit::kFirst:
      return 0;
    case Fit::kPack:
      return kMostMemorySlices - taken_memory;  // Boards are compared by what is taken alone.
    case Fit::kSpread:
      return taken_memory;
  }
  return 0;
}

}  // namespace

PlacesBySize find_places(const Board& board, SlotSet taken, Fit fit) {
  PlacesBySize places;
  for (int size = 0; size < kSizeCount; ++size) {
    const int profile = board.base_profile(kSizes[size]);
    if (profile < 0) continue;
    // Slots of one profile ascend with their start.
    for (SlotSet rest = board.profile_slots[profile] & ~taken; rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      if (!is_free_place(board, taken, slot)) continue;
      const int rank = rank_of(board, taken, slot, fit);
      SM_CHECK(rank < 0xff);
      if (rank < places[size].rank)
        places[size] = {static_cast<std::uint8_t>(slot), static_cast<std::uint8_t>(rank)};
    }
  }
  return places;
}

PlaceTable::PlaceTable(const Fleet& fleet, Fit fit) : fit_(fit) {
  for (const Board* board : fleet.boards()) {
    BoardPlaces& entry = boards_.emplace_back();
    entry.board = board;
    entry.sets = legal_sets(*board, base_slots(*board));
    for (const SlotSet set : entry.sets) entry.places.push_back(find_places(*board, set, fit));
  }
}

PlacesBySize PlaceTable::find(std::uint8_t board, SlotSet taken) const {
  const BoardPlaces& entry = boards_[board];
  const auto at = std::lower_bound(entry.sets.begin(), entry.sets.end(), taken);
  if (at != entry.sets.end() && *at == taken)
    return entry.places[static_cast<std::size_t>(at - entry.sets.begin())];
  return find_places(*entry.board, taken, fit_);  // Slices that are not of base profiles.
}

}  // namespace smartmig
