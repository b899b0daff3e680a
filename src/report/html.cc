#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The byte at which character `index` begins.
std::size_t byte_of_character(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues_character(text[at])) continue;
    if (index-- == 0) break;
  }
  return at;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);  // No "-0".
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::size_t count = character_count(text);
  if (count <= most) return std::string(text);
  const std::size_t kept = most > 1 ? most - 1 : 0;
  const std::size_t front = (kept + 1) / 2;
  std::string out(text.substr(0, byte_of_character(text, front)));
  out += "…";
  out += text.substr(byte_of_character(text, count - (kept - front)));
  return out;
}

}  // namespace smartmig
