#include "policy/packing.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace smartmig {
namespace {

// A placement of the profiles from the i-th on beside `set`; 0: there is none.
SlotSet place(const Board& board, const std::vector<int>& profiles, SlotSet set, std::size_t i) {
  if (i == profiles.size()) return set;
  for (SlotSet rest = board.profile_slots[profiles[i]]; rest; rest &= rest - 1) {
    if (!can_add(board, set, std::countr_zero(rest))) continue;
    if (const SlotSet found = place(board, profiles, set | (rest & -rest), i + 1)) return found;
  }
  return 0;
}

}  // namespace

void Contents::begin(const Fleet& fleet) {
  if (fleet_ == &fleet && !kinds_.empty()) return;
  fleet_ = &fleet;
  kinds_.clear();
  added_.clear();
  changed_.clear();
  index_.clear();
  empty_.clear();
  for (std::uint8_t board = 0; board < fleet.boards().size(); ++board)
    empty_.push_back(find(board, {}));
}

int Contents::find(std::uint8_t board, const Counts& counts) {
  const auto [at, is_new] = index_.try_emplace({board, counts}, -1);
  if (!is_new) return at->second;
  const Board& b = *fleet_->boards()[board];
  wanted_.clear();
  for (int size = kSizeCount - 1; size >= 0; --size) {  // Wide ones have the fewest places.
    for (int i = 0; i < counts[size]; ++i) {
      const int profile = b.base_profile(kSizes[size]);
      if (profile < 0) return -1;
      wanted_.push_back(profile);
    }
  }
  const SlotSet set = place(b, wanted_, 0, 0);
  if (set == 0 && !wanted_.empty()) return -1;
  const int kind = static_cast<int>(kinds_.size());
  kinds_.push_back({board, counts, set, b.compute_slices - compute_slices(b, set)});
  added_.emplace_back().fill(kUnknown);
  for (auto& row : changed_.emplace_back()) row.fill(kUnknown);
  return at->second = kind;
}

int Contents::added(int kind, int size) {
  if (added_[kind][size] == kUnknown) {
    Counts counts = kinds_[kind].counts;
    ++counts[size];
    const int found = find(kinds_[kind].board, counts);
    added_[kind][size] = found;
  }
  return added_[kind][size];
}

int Contents::changed(int kind, int from, int to) {
  if (changed_[kind][from][to] == kUnknown) {
    Counts counts = kinds_[kind].counts;
    --counts[from];
    ++counts[to];
    const int found = find(kinds_[kind].board, counts);
    changed_[kind][from][to] = found;
  }
  return changed_[kind][from][to];
}

int Contents::of(std::uint8_t board, SlotSet set) {
  const Board& b = *fleet_->boards()[board];
  int kind = empty_[board];
  for (SlotSet rest = set; rest && kind >= 0; rest &= rest - 1) {
    const Profile& profile = b.profiles[b.slots[std::countr_zero(rest)].profile];
    kind =
        profile.kind == ProfileKind::kBase ? added(kind, size_index(profile.compute_slices)) : -1;
  }
  return kind;
}

void Packing::clear(std::span<const GpuIndex> gpus) {
  empty_left_.assign(gpus.begin(), gpus.end());
  bins_.clear();
  for (const int kind : open_) by_kind_[kind].clear();
  open_.clear();
}

void Packing::file(std::uint32_t bin) {
  const auto kind = static_cast<std::size_t>(bins_[bin].kind);
  if (by_kind_.size() <= kind) by_kind_.resize(contents_.size());
  if (by_kind_[kind].empty() &&
      std::find(open_.begin(), open_.end(), bins_[bin].kind) == open_.end())
    open_.push_back(bins_[bin].kind);
  by_kind_[kind].push_back(bin);
  std::push_heap(by_kind_[kind].begin(), by_kind_[kind].end(), std::greater<>());
}

bool Packing::add(std::uint32_t what, int size, std::uint32_t boards) {
  int best = -1;
  int after = -1;
  bool fresh = false;
  const auto consider = [&](int kind, bool is_fresh) {
    if (!(boards >> contents_[kind].board & 1)) return;
    const int next = contents_.added(kind, size);
    if (next < 0) return;
    if (after >= 0) {
      const int more = contents_[next].unused - contents_[after].unused;
      // Of equals the GPU that was opened first, which has the larger and weightier jobs.
      if (more > 0 || (more == 0 && (is_fresh || by_kind_[kind].front() > by_kind_[best].front())))
        return;
    }
    best = kind, after = next, fresh = is_fresh;
  };
  for (const int kind : open_) {
    if (!by_kind_[kind].empty()) consider(kind, false);
  }
  for (std::uint8_t board = 0; board < empty_left_.size(); ++board) {
    if (empty_left_[board] > 0) consider(contents_.empty(board), true);
  }
  if (after < 0) return false;
  std::uint32_t bin = 0;
  if (fresh) {
    --empty_left_[contents_[best].board];
    bin = static_cast<std::uint32_t>(bins_.size());
    bins_.emplace_back().count = 0;
  } else {
    std::pop_heap(by_kind_[best].begin(), by_kind_[best].end(), std::greater<>());
    bin = by_kind_[best].back();
    by_kind_[best].pop_back();
  }
  Bin& chosen = bins_[bin];
  SM_CHECK(chosen.count < chosen.items.size());
  chosen.items[chosen.count++] = {what, static_cast<std::int8_t>(size)};
  chosen.kind = after;
  file(bin);
  return true;
}

int Packing::unused() const {
  int slices = 0;
  for (const Bin& bin : bins_) slices += contents_[bin.kind].unused;
  for (std::size_t board = 0; board < empty_left_.size(); ++board)
    slices += static_cast<int>(empty_left_[board]) *
              contents_[contents_.empty(static_cast<std::uint8_t>(board))].unused;
  return slices;
}

}  // namespace smartmig
