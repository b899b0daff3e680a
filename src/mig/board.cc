#include "mig/board.h"

#include <algorithm>
#include <cctype>

#include "base/shipped.h"
#include "base/text.h"

namespace smartmig {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

int Board::base_profile(int size) const {
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].kind == ProfileKind::kBase && profiles[i].compute_slices == size)
      return static_cast<int>(i);
  }
  return -1;
}

int Board::largest_profile() const {
  int best = -1;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].kind == ProfileKind::kBase) best = static_cast<int>(i);  // They ascend.
  }
  return best;
}

const BoardTable& BoardTable::shipped() {
  static const BoardTable table = [] {
    Result<BoardTable> read = parse(shipped_file("boards.json"), "data/boards.json");
    SM_CHECK(read.has_value());
    return std::move(*read);
  }();
  return table;
}

Result<const Board*> BoardTable::find(std::string_view name) const {
  const std::string wanted = lower(name);
  std::vector<std::string> names, words, starting;
  for (const Board& board : boards_) {
    if (lower(board.name) == wanted) return &board;
    names.push_back(board.name);
    words.push_back(lower(board.name));
    if (!wanted.empty() && words.back().starts_with(wanted))
      starting.push_back(fmt::format("'{}'", board.name));
    for (const std::string& alias : board.aliases) {
      if (lower(alias) == wanted) return &board;
    }
  }
  // "A100" is too far from "A100-40GB" to be a slip of the finger, but it is clear what was meant.
  if (!starting.empty()) {
    return fail("unknown board {}; did you mean {}?", in_quotes(name), join(starting, " or "));
  }
  const std::string near = nearest(wanted, words);
  if (near.empty()) return fail("unknown board {}; known: {}", in_quotes(name), join(names, ", "));
  const auto at = std::find(words.begin(), words.end(), near) - words.begin();
  return fail("unknown board {}; did you mean '{}'?", in_quotes(name),
              names[static_cast<std::size_t>(at)]);
}

}  // namespace smartmig
