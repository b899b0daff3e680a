// Finds the ids that stand twice in a column, without an allocation for each id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/job.h"

namespace smartmig {

// Open addressing over row numbers; the text stays in the TextColumn, which may grow and move
// meanwhile. Invariants: slots_.size() is a power of two, at most half of it is used, so that a
// probe ends.
class IdSet {
 public:
  explicit IdSet(std::size_t rows_expected) {
    slots_.resize(std::bit_ceil(std::max<std::size_t>(rows_expected, 8) * 2));
  }

  // Adds the last row of `ids`; the row that has the same text already, if there is one.
  std::optional<std::size_t> add_last(const TextColumn& ids) {
    if (2 * ids.size() > slots_.size()) grow();
    const std::size_t row = ids.size() - 1;
    const std::string_view id = ids[row];
    const std::uint64_t hash = std::hash<std::string_view>()(id);
    const std::uint64_t tag = hash & kTagMask;
    for (std::size_t at = home(hash, slots_.size());; at = (at + 1) & (slots_.size() - 1)) {
      const std::uint64_t slot = slots_[at];
      if (slot == 0) {
        slots_[at] = tag | (row + 1);
        return std::nullopt;
      }
      const std::size_t other = (slot & kRowMask) - 1;
      if ((slot & kTagMask) == tag && ids[other] == id) return other;
    }
  }

 private:
  // A slot is the upper 32 bits of the hash and the row number plus 1; 0 is an empty slot.
  static constexpr std::uint64_t kRowMask = 0xffffffff;
  static constexpr std::uint64_t kTagMask = ~kRowMask;

  // From the upper bits, which a slot keeps, so that growing need not hash again.
  static std::size_t home(std::uint64_t hash, std::size_t slots) {
    return std::size_t((hash >> 32) * slots >> 32);
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const std::uint64_t slot : old) {
      if (slot == 0) continue;
      std::size_t at = home(slot, slots_.size());
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<std::uint64_t> slots_;
};

}  // namespace smartmig
