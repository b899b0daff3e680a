// For tests: how often a page or picture has something.
#pragma once

#include <string>
#include <string_view>

namespace smartmig {

inline std::size_t count_of(const std::string& text, std::string_view piece) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size())
    ++count;
  return count;
}

}  // namespace smartmig
