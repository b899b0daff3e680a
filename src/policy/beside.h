// What can be made beside a set of slices on one GPU. A fleet has few such sets, however many GPUs
// it has: each is worked out once and remembered.
#pragma once

#include <span>
#include <vector>

#include "mig/layout.h"

namespace smartmig {

class Beside {
 public:
  struct Entry {
    SlotSet set = 0;
    SlotSet addable = 0;  // Slots of base profiles.
    // The largest slice that could be made, and a little for every compute slice that is free.
    double room = 0;
    const Board* board = nullptr;
  };

  // Before the first question, and wherever the boards may be others.
  void know(std::span<const Board* const> boards);
  // Valid until the next question.
  const Entry& of(const Board& board, SlotSet set) {
    Entry& entry = entries_[place_of(set)];
    if (entry.board != &board || entry.set != set) work_out(board, set, entry);
    return entry;
  }

 private:
  static constexpr int kPlacesLog2 = 10;
  static std::size_t place_of(SlotSet set) {
    return static_cast<std::size_t>(set * 0x9e3779b97f4a7c15u >> (64 - kPlacesLog2));
  }
  static void work_out(const Board& board, SlotSet set, Entry& entry);

  std::vector<const Board*> boards_;
  std::vector<Entry> entries_;  // By a hash of the set; the later takes the place of the earlier.
};

}  // namespace smartmig
