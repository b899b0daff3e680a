// The layouts of a board by number, for whoever counts GPUs by layout or chooses among them. The
// papers' 12 come first where the board has them (their number 1, `7`, is 0 here), then the other
// maximal layouts of base profiles, largest slices first. Never changes.
#pragma once

#include <cstdint>
#include <vector>

#include "mig/layout.h"

namespace smartmig {

class LayoutNumbers {
 public:
  explicit LayoutNumbers(const Board& board);

  int size() const { return static_cast<int>(layouts_.size()); }
  // How many a learned partitioner chooses among: the papers' 12, or all of a board without them.
  int choices() const { return choices_; }
  SlotSet layout(int number) const { return layouts_[static_cast<std::size_t>(number)]; }
  // -1: none of them, as the parts of layouts are. The same for all placements of a multiset.
  int number_of(SlotSet set) const {
    const std::uint64_t key = key_of(set);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == key) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  // How often each profile is in the set, four bits for each.
  std::uint64_t key_of(SlotSet set) const;

  std::vector<SlotSet> profile_slots_;
  std::vector<SlotSet> layouts_;
  std::vector<std::uint64_t> keys_;
  int choices_ = 0;
};

}  // namespace smartmig
