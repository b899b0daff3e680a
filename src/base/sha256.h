// SHA-256 (FIPS 180-4), to name inputs and to notice files that were changed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace smartmig {

class Sha256 {
 public:
  void add(std::string_view bytes);
  void add(std::int64_t number);  // Eight bytes, lowest first, on every machine.
  std::string hex();              // Of all that was added; nothing can be added afterwards.

 private:
  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t size_ = 0;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace smartmig
