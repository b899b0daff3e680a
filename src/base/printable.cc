#include "base/printable.h"

#include <fmt/format.h>

#include <iterator>

namespace smartmig {
namespace {

std::string escaped(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (changes_terminal(character.code) && !(keeps_lines && text[0] == '\n')) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                     static_cast<std::uint32_t>(character.code));
    } else {
      out += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  return out;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  auto code = static_cast<char32_t>(lead & (0x7f >> size));
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3f);
  }
  // No longer than needed, no half of a pair, nothing beyond the last character.
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {};
  return {code, size, true};
}

bool changes_terminal(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  return within(0, 0x1f) || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_lines(std::string_view text) { return escaped(text, true); }

}  // namespace smartmig
