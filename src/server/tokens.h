// Who may do what: a file of bearer tokens, one line `NAME ROLE TOKEN` each; '#' begins a comment.
// Tokens are kept as SHA-256 sums and compared in constant time, all of them, so that neither a
// core dump's strings nor the time of an answer tells one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

// Each may do what those before it may.
enum class Role : std::uint8_t { kNobody, kRead, kSubmit, kOperate };
std::string_view to_string(Role role);  // "read"

inline constexpr std::size_t kMinTokenBytes = 16;

using Digest = std::array<unsigned char, 32>;
Digest digest_of(std::string_view text);
bool same_digest(const Digest& a, const Digest& b);  // In constant time.

class Tokens {
 public:
  struct Entry {
    std::string name;
    Role role = Role::kNobody;
    Digest digest{};
  };

  // Refuses a file that others can read or that is not ours, and one without a token: its lines
  // are secrets. Errors never show what stands in a line.
  static Result<Tokens> load(const std::string& path);
  static Result<Tokens> parse(std::string_view text, std::string_view name);

  // The entry of that token, or nothing. Takes the same time for every token of a length.
  const Entry* find(std::string_view token) const;
  const Entry* find(const Digest& digest) const;
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

// The token of "Bearer TOKEN"; nothing for another scheme or a token with blanks.
std::optional<std::string_view> bearer_token(std::string_view authorization);

}  // namespace smartmig
