#include <bit>

#include "mig/layout.h"

namespace smartmig {
namespace {

// The slot to create next: the first of `wanted` that fits beside `present`, largest profiles
// first; -1 if none does.
int creatable(const Board& board, SlotSet present, SlotSet wanted) {
  for (std::uint8_t p : board.largest_first) {
    for (SlotSet own = wanted & board.profile_slots[p]; own != 0; own &= own - 1) {
      const int slot = std::countr_zero(own);
      if (can_add(board, present, slot)) return slot;
    }
  }
  return -1;
}

// The slices to destroy next: those in the way of the creation with the fewest in its way. Where
// counts or engines rather than room are short, or nothing is left to create, all that must go.
SlotSet in_the_way(const Board& board, SlotSet doomed, SlotSet wanted) {
  SlotSet best = doomed;
  for (std::uint8_t p : board.largest_first) {
    for (SlotSet own = wanted & board.profile_slots[p]; own != 0; own &= own - 1) {
      const SlotSet blocking =
          board.conflicts[static_cast<std::size_t>(std::countr_zero(own))] & doomed;
      if (blocking != 0 && std::popcount(blocking) < std::popcount(best)) best = blocking;
    }
  }
  return best;
}

}  // namespace

Transition transition(const Board& board, SlotSet from, SlotSet to) {
  Transition out;
  out.survivors = from & to;
  SlotSet present = from;
  SlotSet doomed = from & ~to;
  SlotSet wanted = to & ~from;
  while (doomed != 0 || wanted != 0) {
    if (const int slot = creatable(board, present, wanted); slot >= 0) {
      out.steps.push_back({Step::Kind::kCreate, static_cast<std::uint8_t>(slot)});
      present |= SlotSet{1} << slot;
      wanted &= ~(SlotSet{1} << slot);
      continue;
    }
    SM_CHECK(doomed != 0);  // Else `to` is not legal: what is left of it fits beside what is there.
    // One at a time: destroying a part may already make room for another slice.
    const int slot = std::countr_zero(in_the_way(board, doomed, wanted));
    out.steps.push_back({Step::Kind::kDestroy, static_cast<std::uint8_t>(slot)});
    present &= ~(SlotSet{1} << slot);
    doomed &= ~(SlotSet{1} << slot);
  }
  return out;
}

}  // namespace smartmig
