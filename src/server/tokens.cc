#include "server/tokens.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "base/text.h"
#include "server/private_file.h"

namespace smartmig {
namespace {

std::optional<Role> role_of(std::string_view word) {
  for (const Role role : {Role::kRead, Role::kSubmit, Role::kOperate})
    if (word == to_string(role)) return role;
  return std::nullopt;
}

// What a header can carry without quotes or blanks.
bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

}  // namespace

std::string_view to_string(Role role) {
  constexpr std::array<std::string_view, 4> kNames = {"nobody", "read", "submit", "operate"};
  return kNames[static_cast<std::size_t>(role)];
}

Digest digest_of(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

bool same_digest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<Tokens> Tokens::load(const std::string& path) {
  auto text = read_private_file(path, ReadableBy::kOwner);
  if (!text) return pass_on(text);
  auto tokens = parse(*text, path);
  OPENSSL_cleanse(text->data(), text->size());
  return tokens;
}

Result<Tokens> Tokens::parse(std::string_view text, std::string_view name) {
  Tokens tokens;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words.size() != 3)
      return fail("{}:{}: found {} words, expected NAME ROLE TOKEN", name, number, words.size());
    const auto role = role_of(words[1]);
    // The second word may be a token in the wrong place: it is not shown.
    if (!role) return fail("{}:{}: unknown role, expected read, submit or operate", name, number);
    if (words[2].size() < kMinTokenBytes)
      return fail("{}:{}: the token has {} characters, expected at least {}", name, number,
                  words[2].size(), kMinTokenBytes);
    if (!is_visible(words[0]) || words[0].size() > 64 || !is_visible(words[2]))
      return fail("{}:{}: expected visible ASCII characters, and a name of at most 64", name,
                  number);
    Entry entry{std::string(words[0]), *role, digest_of(words[2])};
    for (const Entry& other : tokens.entries_) {
      if (other.name == entry.name) return fail("{}:{}: the name stands twice", name, number);
      if (other.digest == entry.digest) return fail("{}:{}: the token stands twice", name, number);
    }
    tokens.entries_.push_back(std::move(entry));
  }
  if (tokens.entries_.empty())
    return fail("{}: has no token, expected lines NAME ROLE TOKEN", name);
  return tokens;
}

const Tokens::Entry* Tokens::find(std::string_view token) const { return find(digest_of(token)); }

const Tokens::Entry* Tokens::find(const Digest& digest) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_)
    if (same_digest(entry.digest, digest)) found = &entry;  // No way out before the last.
  return found;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kScheme[i]) return std::nullopt;
  }
  std::string_view token = authorization.substr(kScheme.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  if (token.empty() || !is_visible(token)) return std::nullopt;
  return token;
}

}  // namespace smartmig
