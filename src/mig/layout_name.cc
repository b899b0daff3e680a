// Layouts as text: "4-2-1", "4-1g.10gb-1".
#include <bit>

#include "base/text.h"
#include "mig/layout.h"
#include "mig/placement.h"

namespace smartmig {
namespace {

constexpr std::string_view kEmpty = "empty";
constexpr std::array<std::string_view, 4> kEngineNames = {"decoders", "encoders", "jpeg engines",
                                                          "ofa engines"};

// What a profile is called in a layout: the compute size of a base profile, else the whole name.
std::string piece_name(const Profile& profile) {
  return profile.kind == ProfileKind::kBase ? std::to_string(profile.compute_slices) : profile.name;
}

std::string known_layouts(const Board& board) {
  std::vector<std::string> names;
  for (SlotSet set : layouts(board, base_slots(board))) names.push_back(layout_name(board, set));
  return fmt::format("layouts of {}: {}, and parts of them", board.name, join(names, ", "));
}

std::string known_pieces(const Board& board) {
  std::vector<std::string> names;
  for (const Profile& profile : board.profiles) names.push_back(piece_name(profile));
  return join(names, ", ");
}

// Takes the longest profile that `text` begins with and that a '-' or the end follows (some names
// have a '-' in them: "1g.24gb-me"). -1 where there is none.
int take_piece(const Board& board, std::string_view& text) {
  int found = -1;
  std::size_t length = 0;
  for (std::size_t p = 0; p < board.profiles.size(); ++p) {
    for (const std::string& name : {piece_name(board.profiles[p]), board.profiles[p].name}) {
      const bool whole =
          text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '-');
      if (!whole || name.size() <= length) continue;
      found = static_cast<int>(p);
      length = name.size();
    }
  }
  text.remove_prefix(length);
  return found;
}

// Why no GPU can have these slices, apart from overlaps; "" if nothing speaks against it.
std::string excess(const Board& board, std::span<const int> counts) {
  int slices = 0, compute = 0;
  std::array<int, 4> engines{};
  for (std::size_t p = 0; p < counts.size(); ++p) {
    const Profile& profile = board.profiles[p];
    slices += counts[p];
    compute += counts[p] * profile.compute_slices;
    for (std::size_t e = 0; e < engines.size(); ++e) engines[e] += counts[p] * profile.engines[e];
    if (counts[p] > profile.max_count) {
      return fmt::format("found {} slices of {}, expected at most {}", counts[p], profile.name,
                         profile.max_count);
    }
  }
  if (slices > board.max_instances) {
    return fmt::format("found {} slices, expected at most {}", slices, board.max_instances);
  }
  if (compute > board.compute_slices) {
    return fmt::format("found {} compute slices, expected at most {}", compute,
                       board.compute_slices);
  }
  for (std::size_t e = 0; e < engines.size(); ++e) {
    if (board.engines_total[e] >= 0 && engines[e] > board.engines_total[e]) {
      return fmt::format("needs {} {}, the board has {}", engines[e], kEngineNames[e],
                         board.engines_total[e]);
    }
  }
  return {};
}

}  // namespace

Result<SlotSet> parse_layout(const Board& board, std::string_view text) {
  if (text == kEmpty) return SlotSet{0};
  std::vector<int> counts(board.profiles.size());
  std::string_view rest = text;
  int pieces = 0;
  for (bool more = true; more;) {
    const std::string_view from = rest;
    const int profile = take_piece(board, rest);
    if (profile < 0) {
      return fail("layout {} on {}: found {}, expected one of {}, with '-' between them",
                  in_quotes(text), board.name, in_quotes(from.substr(0, from.find('-'))),
                  known_pieces(board));
    }
    ++counts[static_cast<std::size_t>(profile)];
    if (++pieces > 64) break;  // More than any board holds: excess() says so.
    more = !rest.empty();
    if (more) rest.remove_prefix(1);
  }
  std::string wrong = excess(board, counts);
  if (wrong.empty()) {
    if (const auto found = first_placement(board, counts)) return *found;
    wrong = "these slices cannot stand on one GPU together";
  }
  return fail("layout {} on {}: {}; {}", in_quotes(text), board.name, wrong, known_layouts(board));
}

std::string layout_name(const Board& board, SlotSet set) {
  std::vector<std::string> pieces;
  for (std::uint8_t p : board.largest_first) {
    const int count = std::popcount(set & board.profile_slots[p]);
    pieces.insert(pieces.end(), static_cast<std::size_t>(count), piece_name(board.profiles[p]));
  }
  return pieces.empty() ? std::string(kEmpty) : join(pieces, "-");
}

}  // namespace smartmig
