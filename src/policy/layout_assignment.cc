#include "policy/layout_assignment.h"

#include <algorithm>
#include <bit>

namespace smartmig {
namespace {

// One number to compare assignments by: the sum of values first, then the jobs that keep their
// slot, of which there are fewer than 16.
using Score = std::int64_t;
constexpr Score kImpossible = -1;

Score score_of(const SliceValues& job, int size, int slot) {
  const std::int32_t value = job.by_size[static_cast<std::size_t>(size)];
  if (value == kNotThere) return kImpossible;
  return Score{value} * 16 + (job.slot == slot);
}

}  // namespace

MaximalPlacements::MaximalPlacements(const Board& board) {
  const SlotSet base = base_slots(board);
  const std::vector<SlotSet> sets = maximal_sets(board, base);
  for (const SlotSet layout : layouts(board, base)) {
    for (const SlotSet set : sets) {
      if (!same_layout(board, set, layout)) continue;
      Placement& placement = placements_.emplace_back();
      placement.set = set;
      for (SlotSet rest = set; rest; rest &= rest - 1) {
        const int slot = std::countr_zero(rest);
        const int compute = board.profiles[board.slots[slot].profile].compute_slices;
        SM_CHECK(placement.count < static_cast<int>(placement.slices.size()));
        placement.slices[placement.count++] = {static_cast<std::uint8_t>(slot),
                                               static_cast<std::uint8_t>(size_index(compute))};
      }
      std::sort(placement.slices.begin(), placement.slices.begin() + placement.count,
                [&](const Slice& a, const Slice& b) {
                  return board.slots[a.slot].start < board.slots[b.slot].start;
                });
      most_slices_ = std::max(most_slices_, placement.count);
    }
  }
}

LayoutAssignment MaximalPlacements::assign(std::span<const SliceValues> jobs) const {
  SM_CHECK(jobs.size() <= 7);
  const int count = static_cast<int>(jobs.size());
  LayoutAssignment found;
  Score best = kImpossible;
  // rest[used]: the best that the jobs from popcount(used) on can have of the other slices.
  std::array<Score, 256> rest{};
  for (const Placement& placement : placements_) {
    if (placement.count < count) continue;
    const auto with = [&](unsigned used, int slice) {
      const Slice& s = placement.slices[static_cast<std::size_t>(slice)];
      const Score own =
          score_of(jobs[static_cast<std::size_t>(std::popcount(used))], s.size, s.slot);
      const Score others = rest[used | 1u << slice];
      return own == kImpossible || others == kImpossible ? kImpossible : own + others;
    };
    for (unsigned used = 1u << placement.count; used-- > 0;) {
      const int job = std::popcount(used);
      if (job > count) continue;
      rest[used] = job == count ? 0 : kImpossible;
      for (int slice = 0; job < count && slice < placement.count; ++slice) {
        if (!(used >> slice & 1)) rest[used] = std::max(rest[used], with(used, slice));
      }
    }
    if (rest[0] <= best) continue;
    best = rest[0];
    found.found = true;
    found.set = placement.set;
    unsigned used = 0;
    for (int job = 0; job < count; ++job) {
      int slice = 0;
      while ((used >> slice & 1) || with(used, slice) != rest[used]) ++slice;
      found.slots[static_cast<std::size_t>(job)] = placement.slices[slice].slot;
      used |= 1u << slice;
    }
  }
  return found;
}

}  // namespace smartmig
