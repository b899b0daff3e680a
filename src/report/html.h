// Small pieces of HTML and SVG text.
#pragma once

#include <string>
#include <string_view>

namespace smartmig {

// Safe in text and in quoted attributes.
std::string escaped(std::string_view text);

// A coordinate: at most two decimals, no zeros behind them. A page has tens of thousands of these.
std::string coordinate(double value);

// At most `most` characters (not bytes), the middle left out: what tells policies apart stands at
// both ends.
std::string shortened(std::string_view text, std::size_t most);

// Characters of UTF-8 text.
std::size_t character_count(std::string_view text);

}  // namespace smartmig
