// Many sets of numbers 0..n-1 in one allocation, each with constant-time insert, erase and "least member": one bit
// for each number, and above each 64 words one word that says which of them are not zero. Up to 64 numbers a set is a
// single word; three levels hold 262,144.
//
// Invariant: in each set, bit i of level k+1 is set exactly when word i of level k is not zero.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace smartmig {

class BitForest {
 public:
  BitForest() = default;
  BitForest(std::size_t sets, std::size_t n) {
    std::size_t words = n == 0 ? 1 : (n + 63) / 64;
    for (;;) {
      offsets_.push_back(static_cast<std::uint32_t>(words_per_set_));
      words_per_set_ += words;
      if (words == 1) break;
      words = (words + 63) / 64;
    }
    words_.assign(sets * words_per_set_, 0);
  }

  void insert(std::size_t set, std::uint32_t i) {
    std::uint64_t* base = &words_[set * words_per_set_];
    for (const std::uint32_t offset : offsets_) {
      std::uint64_t& word = base[offset + (i >> 6)];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (i & 63);
      if (!was_empty) return;
      i >>= 6;
    }
  }

  void erase(std::size_t set, std::uint32_t i) {
    std::uint64_t* base = &words_[set * words_per_set_];
    for (const std::uint32_t offset : offsets_) {
      std::uint64_t& word = base[offset + (i >> 6)];
      word &= ~(std::uint64_t{1} << (i & 63));
      if (word != 0) return;
      i >>= 6;
    }
  }

  // The least member, or UINT32_MAX.
  std::uint32_t first(std::size_t set) const {
    const std::uint64_t* base = &words_[set * words_per_set_];
    if (base[offsets_.back()] == 0) return UINT32_MAX;
    std::uint32_t i = 0;
    for (std::size_t level = offsets_.size(); level-- > 0;) {
      i = i << 6 | static_cast<std::uint32_t>(std::countr_zero(base[offsets_[level] + i]));
    }
    return i;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> offsets_;  // Of each level in a set; the last level is one word.
  std::size_t words_per_set_ = 0;
};

}  // namespace smartmig
