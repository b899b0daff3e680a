#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

#include "base/random.h"

namespace smartmig {
namespace {

std::uint64_t hash_of(std::string_view bytes) {
  Hash64 hash;
  hash.add(bytes);
  return hash.value();
}

// Hashes are stored: a change of the function would make every stored row look damaged. The values
// were worked out from the text of hash.h by a few lines of Python.
TEST(Hash64, NeverChanges) {
  EXPECT_EQ(Hash64().value(), 0x755aedac7cde2a09u);
  EXPECT_EQ(hash_of(""), 0xc5bcfc35bd933288u);
  EXPECT_EQ(hash_of("smartmig journal"), 0x37a22beb011861dcu);
  Hash64 mixed;
  mixed.add(std::string_view("jobs"));
  mixed.add(std::int64_t{-2});
  mixed.add(.5);
  EXPECT_EQ(mixed.value(), 0xe0dd89bd8f036d3au);
}

TEST(Hash64, TellsEveryFlippedBit) {
  Random random(1, "hash");
  std::string bytes;
  for (int i = 0; i < 203; ++i) bytes.push_back(static_cast<char>(random.bits()));
  std::set<std::uint64_t> seen = {hash_of(bytes)};
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(seen.insert(hash_of(flipped)).second) << bit;
  }
}

// A flip turns about half of the bits around, wherever it is.
TEST(Hash64, MixesEveryBitOfAWord) {
  for (int bit = 0; bit < 64; ++bit) {
    int turned = 0;
    for (std::uint64_t word = 0; word < 100; ++word) {
      Hash64 one;
      Hash64 other;
      one.add(word);
      other.add(word ^ (std::uint64_t{1} << bit));
      turned += std::popcount(one.value() ^ other.value());
    }
    EXPECT_NEAR(turned / 100.0, 32, 8) << bit;
  }
}

TEST(Hash64, KeepsTextsApart) {
  Hash64 one;
  one.add(std::string_view("ab"));
  one.add(std::string_view("c"));
  Hash64 other;
  other.add(std::string_view("a"));
  other.add(std::string_view("bc"));
  EXPECT_NE(one.value(), other.value());
  EXPECT_NE(hash_of(std::string_view("a\0", 2)), hash_of("a"));
}

TEST(Hash64, TakesMinusZeroForZero) {
  Hash64 one;
  Hash64 other;
  one.add(0.0);
  other.add(-0.0);
  EXPECT_EQ(one.value(), other.value());
}

}  // namespace
}  // namespace smartmig
