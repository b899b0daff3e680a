#include "mig/layout.h"

#include <algorithm>
#include <bit>

namespace smartmig {
namespace {

// A legal set and what it uses up, grown slot by slot.
struct Filling {
  const Board* board;
  SlotSet set = 0;
  SlotSet blocked = 0;  // Slots that conflict with one of the set.
  int slices = 0;
  int compute = 0;
  std::array<int, 4> engines{};
  std::array<std::uint8_t, 64> count{};  // By profile; each has at least one of the 64 slots.

  // Adds the slot if the set stays legal.
  bool add(int index) {
    const Slot& slot = board->slots[static_cast<std::size_t>(index)];
    const Profile& profile = board->profiles[slot.profile];
    if (blocked >> index & 1 || slices == board->max_instances) return false;
    if (count[slot.profile] == profile.max_count) return false;
    if (compute + profile.compute_slices > board->compute_slices) return false;
    for (std::size_t e = 0; e < engines.size(); ++e) {
      const int total = board->engines_total[e];
      if (total >= 0 && engines[e] + profile.engines[e] > total) return false;
    }
    set |= SlotSet{1} << index;
    blocked |= board->conflicts[static_cast<std::size_t>(index)];
    ++slices;
    ++count[slot.profile];
    compute += profile.compute_slices;
    for (std::size_t e = 0; e < engines.size(); ++e) engines[e] += profile.engines[e];
    return true;
  }
};

// Calls body(slot) for every slot of the set, lowest first, until it answers false.
template <class Body>
bool all_of(SlotSet set, Body body) {
  for (; set != 0; set &= set - 1) {
    if (!body(std::countr_zero(set))) return false;
  }
  return true;
}

// Leaves a slot out before it takes it, from the highest slot down: the sets come in ascending
// order.
void enumerate(const Filling& filling, SlotSet allowed, std::vector<SlotSet>& out) {
  if (allowed == 0) {
    out.push_back(filling.set);
    return;
  }
  const int slot = 63 - std::countl_zero(allowed);
  const SlotSet rest = allowed & ~(SlotSet{1} << slot);
  enumerate(filling, rest, out);
  Filling with = filling;
  if (with.add(slot)) enumerate(with, rest, out);
}

// How many slices of each profile, in the order of names; a larger vector has larger slices first.
std::vector<int> multiset(const Board& board, SlotSet set) {
  std::vector<int> counts;
  for (std::uint8_t p : board.largest_first)
    counts.push_back(std::popcount(set & board.profile_slots[p]));
  return counts;
}

}  // namespace

bool is_legal(const Board& board, SlotSet set) {
  if (set & ~all_slots(board)) return false;
  Filling filling{&board};
  return all_of(set, [&](int slot) { return filling.add(slot); });
}

bool can_add(const Board& board, SlotSet set, int slot) {
  // The geometric half first: it settles most cases without looking at every slice.
  const SlotSet bit = SlotSet{1} << slot;
  if (board.conflicts[static_cast<std::size_t>(slot)] & set) return false;
  return is_legal(board, set | bit);
}

std::vector<SlotSet> legal_sets(const Board& board, SlotSet allowed) {
  std::vector<SlotSet> out;
  enumerate(Filling{&board}, allowed & all_slots(board), out);
  return out;
}

std::vector<SlotSet> maximal_sets(const Board& board, SlotSet allowed) {
  std::vector<SlotSet> out;
  const SlotSet possible = allowed & all_slots(board);
  for (SlotSet set : legal_sets(board, allowed)) {
    if (all_of(possible & ~set, [&](int slot) { return !can_add(board, set, slot); }))
      out.push_back(set);
  }
  return out;
}

std::vector<SlotSet> layouts(const Board& board, SlotSet allowed) {
  std::vector<std::pair<std::vector<int>, SlotSet>> found;
  for (SlotSet set : maximal_sets(board, allowed)) found.emplace_back(multiset(board, set), set);
  std::sort(found.begin(), found.end(), std::greater<>());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  std::vector<SlotSet> out;
  for (const auto& [counts, set] : found) out.push_back(canonical_placement(board, set));
  return out;
}

SlotSet base_slots(const Board& board) {
  SlotSet out = 0;
  for (std::size_t p = 0; p < board.profiles.size(); ++p) {
    if (board.profiles[p].kind == ProfileKind::kBase) out |= board.profile_slots[p];
  }
  return out;
}

SlotSet all_slots(const Board& board) {
  return board.slots.size() == 64 ? ~SlotSet{0} : (SlotSet{1} << board.slots.size()) - 1;
}

bool same_layout(const Board& board, SlotSet a, SlotSet b) {
  for (SlotSet own : board.profile_slots) {
    if (std::popcount(a & own) != std::popcount(b & own)) return false;
  }
  return true;
}

int compute_slices(const Board& board, SlotSet set) {
  int sum = 0;
  for (std::size_t p = 0; p < board.profiles.size(); ++p) {
    sum += board.profiles[p].compute_slices * std::popcount(set & board.profile_slots[p]);
  }
  return sum;
}

int slice_count(SlotSet set) { return std::popcount(set); }

std::uint32_t memory_range(const Board& board, SlotSet set) {
  std::uint32_t covered = 0;
  all_of(set, [&](int index) {
    const Slot& slot = board.slots[static_cast<std::size_t>(index)];
    covered |= ((std::uint32_t{1} << slot.width) - 1) << slot.start;
    return true;
  });
  return covered;
}

int largest_creatable(const Board& board, SlotSet busy) {
  for (std::uint8_t p : board.largest_first) {
    if (board.profiles[p].kind != ProfileKind::kBase) continue;
    const SlotSet own = board.profile_slots[p];
    // Slots of one profile differ in geometry only, so the first that fits answers for all.
    if (!all_of(own & ~busy, [&](int slot) { return !can_add(board, busy, slot); })) {
      return board.profiles[p].compute_slices;
    }
  }
  return 0;
}

}  // namespace smartmig
