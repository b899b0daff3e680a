// The geometry of a boards file: profiles, their slots, and which slots exclude each other.
#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "mig/board_reader.h"

namespace smartmig {
namespace {

constexpr std::size_t kMaxSlots = 64;  // A SlotSet is one word.

const std::vector<std::string> kKinds = {"base",     "media",     "double-memory",
                                         "graphics", "media-all", "no-media"};

ProfileKind read_kind(const JsonFields& fields) {
  const std::string kind = fields.text("kind");
  const auto at = std::find(kKinds.begin(), kKinds.end(), kind);
  if (at != kKinds.end()) return static_cast<ProfileKind>(at - kKinds.begin());
  fields.report("kind",
                fmt::format("found {}, expected one of {}", in_quotes(kind), join(kKinds, ", ")));
  return ProfileKind::kBase;
}

std::array<int, 4> read_engines(const JsonFields& fields, bool nulls) {
  std::array<int, 4> engines{};
  const std::vector<int> read = fields.integers("engines", 0, 64, nulls);
  if (read.size() == engines.size()) {
    std::copy(read.begin(), read.end(), engines.begin());
  } else {
    fields.report("engines", fmt::format("found {} numbers, expected decoders, encoders, jpeg, ofa",
                                         read.size()));
  }
  return engines;
}

void check_profile(const JsonFields& fields, const Board& board, const Profile& profile) {
  if (size_index(profile.compute_slices) < 0 || profile.compute_slices > board.compute_slices) {
    fields.report("compute_slices",
                  fmt::format("found {}, expected 1, 2, 3, 4 or 7 and at most the board's {}",
                              profile.compute_slices, board.compute_slices));
  }
  // A bare number in a layout is a compute size, and blanks and commas end a layout.
  if (profile.name.find_first_of(" ,*/") != std::string::npos || parse_number(profile.name)) {
    fields.report(
        "name", fmt::format("found {}, expected a name such as 3g.20gb", in_quotes(profile.name)));
  }
  if (profile.starts.empty())
    fields.report("starts", "is empty, expected at least one memory slice");
  for (std::size_t i = 0; i < profile.starts.size(); ++i) {
    if (profile.starts[i] + profile.memory_slices > board.memory_slices) {
      fields.report("starts",
                    fmt::format("found {}, where {} memory slices reach beyond the board's {}",
                                profile.starts[i], profile.memory_slices, board.memory_slices));
    }
    if (i > 0 && profile.starts[i] <= profile.starts[i - 1]) fields.report("starts", "must ascend");
  }
  for (std::size_t e = 0; e < profile.engines.size(); ++e) {
    if (board.engines_total[e] >= 0 && profile.engines[e] > board.engines_total[e]) {
      fields.report("engines", "asks for more than the board has");
    }
  }
  for (const Profile& other : board.profiles) {
    if (other.name == profile.name)
      fields.report("name", fmt::format("{} stands twice", profile.name));
    if (other.id == profile.id) fields.report("id", fmt::format("{} stands twice", profile.id));
    if (other.kind == ProfileKind::kBase && profile.kind == ProfileKind::kBase &&
        other.compute_slices == profile.compute_slices) {
      fields.report("kind", fmt::format("a second base profile of {} compute slices",
                                        profile.compute_slices));
    }
  }
}

Profile read_profile(const JsonFields& fields, const Board& board) {
  fields.only({"name", "id", "kind", "compute_slices", "memory_slices", "memory_mib",
               "memory_assumed", "sms", "engines", "copy_engines", "max_count", "starts"});
  Profile profile;
  profile.name = fields.text("name");
  profile.id = fields.integer("id", 0, 1'000'000);
  profile.kind = read_kind(fields);
  profile.compute_slices = fields.integer("compute_slices", 1, 8);
  profile.memory_slices = fields.integer("memory_slices", 1, board.memory_slices);
  profile.memory_mib = fields.integer("memory_mib", 1, 1 << 24);
  profile.memory_assumed = fields.boolean("memory_assumed", false);
  profile.sms = fields.integer("sms", 1, 4096);
  profile.engines = read_engines(fields, false);
  if (fields.has("copy_engines")) profile.copy_engines = fields.integer("copy_engines", 1, 64);
  profile.max_count = fields.integer("max_count", 1, board.max_instances);
  profile.starts = fields.integers("starts", 0, board.memory_slices - 1);
  check_profile(fields, board, profile);
  return profile;
}

void make_slots(Board& board) {
  for (std::size_t p = 0; p < board.profiles.size(); ++p) {
    SlotSet own = 0;
    for (int start : board.profiles[p].starts) {
      own |= SlotSet{1} << board.slots.size();
      board.slots.push_back({static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(start),
                             static_cast<std::uint8_t>(board.profiles[p].memory_slices)});
    }
    board.profile_slots.push_back(own);
  }
  for (const Slot& a : board.slots) {
    SlotSet overlapping = 0;
    for (std::size_t j = 0; j < board.slots.size(); ++j) {
      const Slot& b = board.slots[j];
      if (a.start < b.start + b.width && b.start < a.start + a.width)
        overlapping |= SlotSet{1} << j;
    }
    board.conflicts.push_back(overlapping);
  }
}

// A profile that only some others may stand beside: everything else conflicts with it.
void enforce_rule(const JsonFields& rule, Board& board) {
  SlotSet own = 0, allowed = 0;
  const std::string name = rule.text("profile");
  const std::vector<std::string> beside = rule.texts("only_beside");
  for (std::size_t p = 0; p < board.profiles.size(); ++p) {
    if (board.profiles[p].name == name) own = board.profile_slots[p];
    const bool listed =
        std::find(beside.begin(), beside.end(), board.profiles[p].name) != beside.end();
    if (listed) allowed |= board.profile_slots[p];
  }
  if (own == 0)
    rule.report("profile",
                fmt::format("found {}, expected a profile of this board", in_quotes(name)));
  for (std::size_t i = 0; i < board.slots.size(); ++i) {
    const SlotSet bit = SlotSet{1} << i;
    if (own & bit) {
      for (std::size_t j = 0; j < board.slots.size(); ++j) {
        if (!(allowed >> j & 1)) board.conflicts[i] |= SlotSet{1} << j;
      }
    } else if (!(allowed & bit)) {
      board.conflicts[i] |= own;
    }
  }
}

}  // namespace

void read_geometry(const JsonFields& fields, const SourceTexts& texts, Board& board) {
  board.engines_total = read_engines(fields, true);
  std::size_t slot_count = 0;
  fields.each("profiles", [&](const JsonFields& item) {
    board.profiles.push_back(read_profile(item, board));
    slot_count += board.profiles.back().starts.size();
  });
  if (slot_count > kMaxSlots) {
    fields.report("profiles",
                  fmt::format("found {} placements, expected at most {}", slot_count, kMaxSlots));
    return;
  }
  std::stable_sort(board.profiles.begin(), board.profiles.end(),
                   [](const Profile& a, const Profile& b) {
                     if (a.compute_slices != b.compute_slices)
                       return a.compute_slices < b.compute_slices;
                     return a.kind == ProfileKind::kBase && b.kind != ProfileKind::kBase;
                   });
  if (board.largest_profile() < 0)
    fields.report("profiles", "has no base profile, expected at least one");
  make_slots(board);
  board.largest_first.resize(board.profiles.size());
  std::iota(board.largest_first.begin(), board.largest_first.end(), std::uint8_t{0});
  std::stable_sort(board.largest_first.begin(), board.largest_first.end(),
                   [&](std::uint8_t i, std::uint8_t j) {
                     const Profile &a = board.profiles[i], &b = board.profiles[j];
                     if (a.compute_slices != b.compute_slices)
                       return a.compute_slices > b.compute_slices;
                     return a.memory_slices > b.memory_slices;
                   });
  if (!fields.has("rules")) return;
  fields.each("rules", [&](const JsonFields& rule) {
    rule.only({"text", "source", "profile", "only_beside"});
    board.rules.push_back(rule.text("text"));
    if (!texts.contains(rule.text("source")))
      rule.report("source", "is no key of the sources table");
    if (rule.has("profile") || rule.has("only_beside")) enforce_rule(rule, board);
  });
}

}  // namespace smartmig
