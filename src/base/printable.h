// Text that comes from a server, a file or another user, made fit for a terminal. A terminal obeys
// control characters, and characters that change the direction of text make a line read as another
// one; both are printed as escapes instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smartmig {

// One character of UTF-8. `size` is the number of its bytes, at least 1; `valid` is false where the
// bytes are not UTF-8, and the character is then one byte long.
struct Character {
  char32_t code = 0;
  std::size_t size = 1;
  bool valid = false;
};
// The first character of a text that is not empty.
Character first_character(std::string_view text);

// Control characters (C0, DEL, C1), marks and overrides of the direction of text, and the
// separators of lines and paragraphs.
bool changes_terminal(char32_t code);

// The text with such characters as \u001b and bytes that are not UTF-8 as \xff. The escapes are
// those of JSON, so that a JSON text stays one with the same values.
std::string printable(std::string_view text);
// The same for a text of several lines, whose ends stay.
std::string printable_lines(std::string_view text);

}  // namespace smartmig
