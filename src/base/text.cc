#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.h"

namespace smartmig {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  return fmt::format("{}", fmt::join(pieces.begin(), pieces.end(), separator));
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_edits = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::vector<std::size_t> row;
  std::vector<std::size_t> last;    // One row up.
  std::vector<std::size_t> before;  // Two rows up.
  for (const std::string& candidate : candidates) {
    // Edits are insertions, deletions, changes and swaps of neighbours (optimal string alignment),
    // one row at a time.
    before.assign(candidate.size() + 1, 0);
    last.resize(candidate.size() + 1);
    row.resize(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::swap(before, last);
      std::swap(last, row);
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        row[j + 1] = std::min({row[j] + 1, last[j + 1] + 1, last[j] + (word[i] != candidate[j])});
        const bool swapped =
            i > 0 && j > 0 && word[i] == candidate[j - 1] && word[i - 1] == candidate[j];
        if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
    if (row.back() < best_edits) {
      best_edits = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out = "'";
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    if (at + character.size > kLongest) break;
    const bool plain = character.valid && !changes_terminal(character.code);
    out += plain ? text.substr(at, character.size) : "?";
    at += character.size;
  }
  out += at < text.size() ? "...'" : "'";
  return out;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; known: {}", join(candidates, ", "));
}

}  // namespace smartmig
