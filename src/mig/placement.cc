// Placements of a multiset: the first in the canonical order, or the one nearest to what a GPU has.
#include <algorithm>
#include <array>
#include <bit>

#include "mig/layout.h"
#include "mig/placement.h"

namespace smartmig {
namespace {

// A pinned slot outweighs every other, as a set has at most 64 of those.
constexpr int kPinnedWeight = 65;

// Depth-first over the slices, larger profiles first and starts ascending: the first placement
// found is the canonical one, and a later one must score more to replace it.
class Search {
 public:
  Search(const Board& board, SlotSet present, SlotSet pinned)
      : board_(board), present_(present), pinned_(pinned) {}

  void add(std::uint8_t profile, int count) {
    const SlotSet own = board_.profile_slots[profile];
    for (int i = 0; i < count; ++i) pieces_[static_cast<std::size_t>(piece_count_++)] = profile;
    // No placement keeps more slots of a profile than it has slices of it.
    ceiling_ += kPinnedWeight * std::min(count, std::popcount(own & pinned_));
    ceiling_ += std::min(count, std::popcount(own & present_));
  }

  std::optional<SlotSet> run() {
    place(0, 0, 0, 0);
    if (best_ < 0) return std::nullopt;
    return found_;
  }

 private:
  int score(SlotSet set) const {
    return kPinnedWeight * std::popcount(set & pinned_) + std::popcount(set & present_);
  }

  // `above`: for a profile equal to the last one, only its later slots, so that no set comes twice.
  void place(int piece, SlotSet set, SlotSet blocked, SlotSet above) {
    if (piece == piece_count_) {
      if (score(set) > best_) best_ = score(set), found_ = set;
      return;
    }
    const std::uint8_t profile = pieces_[static_cast<std::size_t>(piece)];
    const bool again = piece > 0 && pieces_[static_cast<std::size_t>(piece - 1)] == profile;
    SlotSet candidates = board_.profile_slots[profile] & ~blocked;
    if (again) candidates &= above;
    for (; candidates != 0 && best_ < ceiling_; candidates &= candidates - 1) {
      const int slot = std::countr_zero(candidates);
      const SlotSet later = candidates & (candidates - 1);
      place(piece + 1, set | SlotSet{1} << slot,
            blocked | board_.conflicts[static_cast<std::size_t>(slot)], later);
    }
  }

  const Board& board_;
  SlotSet present_, pinned_;
  std::array<std::uint8_t, 64> pieces_{};
  int piece_count_ = 0;
  int ceiling_ = 0;
  int best_ = -1;
  SlotSet found_ = 0;
};

Search search_for(const Board& board, SlotSet present, SlotSet pinned, SlotSet layout) {
  Search search(board, present, pinned);
  for (std::uint8_t p : board.largest_first)
    search.add(p, std::popcount(layout & board.profile_slots[p]));
  return search;
}

}  // namespace

std::optional<SlotSet> first_placement(const Board& board, std::span<const int> counts) {
  Search search(board, 0, 0);
  for (std::uint8_t p : board.largest_first) search.add(p, counts[p]);
  return search.run();
}

SlotSet canonical_placement(const Board& board, SlotSet layout) {
  const std::optional<SlotSet> found = search_for(board, 0, 0, layout).run();
  SM_CHECK(found.has_value());
  return *found;
}

SlotSet closest_placement(const Board& board, SlotSet present, SlotSet pinned, SlotSet layout) {
  // Nothing beats staying, and a partitioner often wants what is there.
  if ((pinned & ~present) == 0 && same_layout(board, present, layout)) return present;
  const std::optional<SlotSet> found = search_for(board, present, pinned, layout).run();
  SM_CHECK(found.has_value());
  return *found;
}

}  // namespace smartmig
