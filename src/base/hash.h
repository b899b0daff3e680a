// A 64-bit hash to notice damage, the same on every machine and in every version: it may be stored.
// Not for secrets, and not against someone who looks for collisions.
//
// Each word of eight bytes goes through a step that maps different states to different states and
// different words to different states. So two inputs that differ in one word alone (one flipped
// bit, say) never have one hash; any other two share it with odds of about 2^-64.
#pragma once

#include <cstdint>
#include <string_view>

namespace smartmig {

class Hash64 {
 public:
  void add(std::uint64_t word);
  void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(double number);  // Its bits; -0 counts as 0.
  // The length as a word, then the bytes as words, lowest first, the last one filled up with 0:
  // text cannot run into its neighbour.
  void add(std::string_view bytes);
  std::uint64_t value() const;  // Of all that was added so far.

 private:
  std::uint64_t state_ = 0x736d6172746d6967;  // Any number would do: "smartmig".
};

}  // namespace smartmig
