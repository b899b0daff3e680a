#include "base/hash.h"

#include <bit>
#include <cstring>

namespace smartmig {
namespace {

// The golden ratio times 2^64: odd, so that multiplying loses nothing.
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

// Up to eight bytes, lowest first.
std::uint64_t word_of(const char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
  }
  return word;
}

}  // namespace

void Hash64::add(std::uint64_t word) {
  state_ = (state_ ^ word) * kFactor;
  // High bits have seen every lower one, low bits nothing above them: turn them around.
  state_ ^= state_ >> 32;
}

void Hash64::add(double number) { add(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number)); }

void Hash64::add(std::string_view bytes) {
  add(std::uint64_t{bytes.size()});
  while (bytes.size() >= 8) {
    add(word_of(bytes.data(), 8));
    bytes.remove_prefix(8);
  }
  if (!bytes.empty()) add(word_of(bytes.data(), bytes.size()));
}

std::uint64_t Hash64::value() const {
  // Once more, so that the last word reaches every bit.
  Hash64 last = *this;
  last.add(std::uint64_t{0});
  last.add(std::uint64_t{0});
  return last.state_;
}

}  // namespace smartmig
