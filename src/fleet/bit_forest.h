// Many sets of numbers 0..n-1 in one allocation, each with constant-time insert, erase and "least
// member": one bit for each number, and above each 64 words one word that says which of them are
// not zero. Up to 64 numbers a set is a single word; three levels hold 262,144.
//
// Invariant: in each set, bit i of level k+1 is set exactly when word i of level k is not zero.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace smartmig {

class BitForest {
 public:
  BitForest() = default;
  BitForest(std::size_t sets, std::size_t n) {
    std::size_t words = n == 0 ? 1 : (n + 63) / 64;
    for (;;) {
      offsets_[depth_++] = static_cast<std::uint32_t>(words_per_set_);
      words_per_set_ += words;
      if (words == 1) break;
      words = (words + 63) / 64;
    }
    words_.assign(sets * words_per_set_, 0);
  }

  // True if the set was empty before.
  bool insert(std::size_t set, std::uint32_t i) {
    if (depth_ == 1) {
      const bool was_empty = words_[set] == 0;
      words_[set] |= std::uint64_t{1} << i;
      return was_empty;
    }
    std::uint64_t* base = &words_[set * words_per_set_];
    for (std::uint32_t level = 0; level < depth_; ++level, i >>= 6) {
      std::uint64_t& word = base[offsets_[level] + (i >> 6)];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (i & 63);
      if (!was_empty) return false;
    }
    return true;
  }

  // The number must be there. True if the set is empty now.
  bool erase(std::size_t set, std::uint32_t i) {
    if (depth_ == 1) {
      std::uint64_t& word = words_[set];
      SM_CHECK(word >> i & 1);
      word ^= std::uint64_t{1} << i;
      return word == 0;
    }
    std::uint64_t* base = &words_[set * words_per_set_];
    SM_CHECK(base[i >> 6] >> (i & 63) & 1);
    for (std::uint32_t level = 0; level < depth_; ++level, i >>= 6) {
      std::uint64_t& word = base[offsets_[level] + (i >> 6)];
      word &= ~(std::uint64_t{1} << (i & 63));
      if (word != 0) return false;
    }
    return true;
  }

  // Makes this, a forest of the same shape, equal to the other.
  void copy_words(const BitForest& other) {
    std::copy(other.words_.begin(), other.words_.end(), words_.begin());
  }

  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  // The members i to the end of i's word, as bits from the lowest.
  std::uint64_t group(std::size_t set, std::uint32_t i) const {
    return words_[set * words_per_set_ + (i >> 6)] >> (i & 63);
  }

  // The least member of any of several sets: set + k for each bit k of `which`; or UINT32_MAX.
  std::uint32_t first_of(std::size_t set, std::uint64_t which) const {
    if (depth_ == 1) {
      std::uint64_t word = 0;
      for (; which; which &= which - 1)
        word |= words_[set + static_cast<std::size_t>(std::countr_zero(which))];
      return word ? static_cast<std::uint32_t>(std::countr_zero(word)) : UINT32_MAX;
    }
    std::uint32_t best = UINT32_MAX;
    for (; which; which &= which - 1) {
      const std::uint32_t i = first(set + static_cast<std::size_t>(std::countr_zero(which)));
      best = i < best ? i : best;
    }
    return best;
  }

  // The least member from i on, or UINT32_MAX. Up to where a word has a later member, then down.
  std::uint32_t next(std::size_t set, std::uint32_t i) const {
    const std::uint64_t* base = &words_[set * words_per_set_];
    for (std::uint32_t level = 0; level < depth_; ++level) {
      const std::uint32_t words = level + 1 < depth_ ? offsets_[level + 1] - offsets_[level] : 1;
      if (i >> 6 >= words) return UINT32_MAX;
      const std::uint64_t rest = base[offsets_[level] + (i >> 6)] >> (i & 63);
      if (rest == 0) {
        i = (i >> 6) + 1;
        continue;
      }
      i += static_cast<std::uint32_t>(std::countr_zero(rest));
      while (level-- > 0)
        i = i << 6 | static_cast<std::uint32_t>(std::countr_zero(base[offsets_[level] + i]));
      return i;
    }
    return UINT32_MAX;
  }

  // The least member, or UINT32_MAX.
  std::uint32_t first(std::size_t set) const {
    if (depth_ == 1)
      return words_[set] ? static_cast<std::uint32_t>(std::countr_zero(words_[set])) : UINT32_MAX;
    const std::uint64_t* base = &words_[set * words_per_set_];
    if (base[offsets_[depth_ - 1]] == 0) return UINT32_MAX;
    std::uint32_t i = 0;
    for (std::uint32_t level = depth_; level-- > 0;) {
      i = i << 6 | static_cast<std::uint32_t>(std::countr_zero(base[offsets_[level] + i]));
    }
    return i;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::array<std::uint32_t, 6> offsets_{};  // Of each level in a set; the last level is one word.
  std::uint32_t depth_ = 0;                 // Levels; six hold 2^36 numbers.
  std::size_t words_per_set_ = 0;
};

}  // namespace smartmig
