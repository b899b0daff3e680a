// Small things about text that several rooms need.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

// Pieces between separators; "" gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string join(std::span<const std::string> pieces, std::string_view separator);

// The whole text as a finite number, or nothing. No blanks, no "nan", no "inf", no hexadecimal.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

// The candidate with the fewest edits from `word`, or "" where none is near (more than a third of
// it off).
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// What was found, fit for an error line: 'text', at most 40 bytes of it, control characters as '?'.
std::string in_quotes(std::string_view text);

// "; did you mean 'edf'?" or "; known: a, b, c": the end of an error line about an unknown name.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace smartmig
