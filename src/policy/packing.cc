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

Contents::Contents(const Fleet& fleet) {
  Index known;
  for (std::uint8_t index = 0; index < fleet.boards().size(); ++index) {
    const Board& board = *fleet.boards()[index];
    empty_.push_back(find(board, index, {}, known));
    // What is found on the way comes after, so this ends when nothing new is.
    for (auto kind = static_cast<std::size_t>(empty_.back()); kind < kinds_.size(); ++kind) {
      for (int size = 0; size < kSizeCount; ++size) {
        Counts counts = kinds_[kind].counts;
        ++counts[size];
        const int more = find(board, index, counts, known);
        kinds_[kind].added[size] = more;
        for (int from = 0; from < kSizeCount; ++from) {
          Counts other = counts;
          const int changed = --other[from] < 0 ? -1 : find(board, index, other, known);
          kinds_[kind].changed[from][size] = changed;
        }
      }
    }
  }
}

int Contents::find(const Board& board, std::uint8_t index, const Counts& counts, Index& known) {
  const auto [at, is_new] = known.try_emplace({index, counts}, -1);
  if (!is_new) return at->second;
  std::vector<int> profiles;
  for (int size = kSizeCount - 1; size >= 0; --size) {  // Wide ones have the fewest places.
    const int profile = board.base_profile(kSizes[size]);
    if (profile < 0 && counts[size] > 0) return -1;
    profiles.insert(profiles.end(), static_cast<std::size_t>(counts[size]), profile);
  }
  const SlotSet set = place(board, profiles, 0, 0);
  if (set == 0 && !profiles.empty()) return -1;
  kinds_.push_back({index, counts, set, board.compute_slices - compute_slices(board, set), {}, {}});
  return at->second = static_cast<int>(kinds_.size()) - 1;
}

int Contents::of(const Board& board, std::uint8_t index, SlotSet set) const {
  int kind = empty_[index];
  for (SlotSet rest = set; rest && kind >= 0; rest &= rest - 1) {
    const Profile& profile = board.profiles[board.slots[std::countr_zero(rest)].profile];
    if (profile.kind != ProfileKind::kBase) return -1;
    kind = (*this)[kind].added[size_index(profile.compute_slices)];
  }
  return kind;
}

Packing::Packing(std::shared_ptr<const Contents> contents)
    : contents_(std::move(contents)), by_kind_(contents_->size()) {}

void Packing::reserve(std::size_t gpus) {
  for (auto& bins : by_kind_) bins.reserve(gpus);
  bins_.reserve(gpus);
  open_.reserve(contents_->size());
}

bool a100s_can_hold(const std::array<int, kSizeCount>& counts, int gpus) {
  const auto [n1, n2, n3, n4, n7] = counts;
  const int rest = gpus - n7 - n4;  // Without a 4g.
  if (rest < 0) return false;
  for (int beside = std::min(n3, n4); beside >= 0; --beside) {
    const int elsewhere = n3 - beside;
    for (int pairs = std::max(0, elsewhere - rest); 2 * pairs <= elsewhere; ++pairs) {
      const int single = elsewhere - 2 * pairs;
      const int empty = rest - pairs - single;
      if (empty < 0) continue;
      const int open4 = n4 - beside;
      if (n2 <= open4 + 2 * single + 3 * empty && 2 * n2 + n1 <= 3 * open4 + 4 * single + 7 * empty)
        return true;
    }
  }
  return false;
}

void Packing::clear(std::span<const GpuIndex> gpus) {
  empty_left_.assign(gpus.begin(), gpus.end());
  bins_.clear();
  for (const int kind : open_) by_kind_[kind].clear();
  open_.clear();
}

void Packing::file(std::uint32_t bin) {
  const auto kind = static_cast<std::size_t>(bins_[bin].kind);
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
    if (!(boards >> (*contents_)[kind].board & 1)) return;
    const int next = (*contents_)[kind].added[size];
    if (next < 0) return;
    if (after >= 0) {
      const int more = (*contents_)[next].unused - (*contents_)[after].unused;
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
    if (empty_left_[board] > 0) consider(contents_->empty(board), true);
  }
  if (after < 0) return false;
  std::uint32_t bin = 0;
  if (fresh) {
    --empty_left_[(*contents_)[best].board];
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
  for (const Bin& bin : bins_) slices += (*contents_)[bin.kind].unused;
  for (std::size_t board = 0; board < empty_left_.size(); ++board)
    slices += static_cast<int>(empty_left_[board]) *
              (*contents_)[contents_->empty(static_cast<std::uint8_t>(board))].unused;
  return slices;
}

}  // namespace smartmig
