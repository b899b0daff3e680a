#include "workload/catalogue.h"

#include <algorithm>
#include <map>

#include "base/json_fields.h"
#include "base/shipped.h"
#include "base/text.h"

namespace smartmig {
namespace {

// What the profiles of one set have in common, so that the file says it once.
struct SetFields {
  std::string board;
  std::string source;
  std::string caveat;
};
using Sets = std::map<std::string, SetFields>;

bool is_kebab(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Sets read_sets(const JsonFields& fields) {
  Sets sets;
  for (const std::string& name : fields.keys()) {
    const JsonFields set = fields.object(name);
    set.only({"board", "source", "licence", "caveat"});
    set.text("licence");  // For the reader of the file; the program only asks that it is there.
    sets[name] = {set.text("board"), set.text("source"), set.text("caveat", "")};
  }
  return sets;
}

// One number for each size.
std::array<double, kSizeCount> read_sizes(const JsonFields& fields, std::string_view key,
                                          double high) {
  std::array<double, kSizeCount> sizes{};
  const std::vector<double> numbers = fields.numbers(key, 0, high);
  if (numbers.size() == sizes.size()) {
    std::copy(numbers.begin(), numbers.end(), sizes.begin());
  } else {
    fields.report(key, fmt::format("found {} numbers, expected {}: 1g, 2g, 3g, 4g, 7g",
                                   numbers.size(), sizes.size()));
  }
  return sizes;
}

// From "speed" (anything per second) or "time_s" (seconds for anything), whichever was published.
std::array<double, kSizeCount> read_speed(const JsonFields& fields) {
  constexpr double kMost = 1e12;  // Of either; 1e-12 is the least, so that ratios stay finite.
  const bool is_time = fields.has("time_s");
  if (is_time && fields.has("speed")) fields.report("time_s", "stands beside speed, expected one");
  const char* key = is_time ? "time_s" : "speed";
  const auto numbers = read_sizes(fields, key, kMost);
  const double whole = numbers.back();
  std::array<double, kSizeCount> speed{};
  for (std::size_t i = 0; i < speed.size(); ++i) {
    if (numbers[i] == 0) continue;
    if (numbers[i] < 1 / kMost) {
      fields.report(key, fmt::format("found {}, expected 0 or at least 1e-12", numbers[i]));
    }
    speed[i] = is_time ? whole / numbers[i] : numbers[i] / whole;
  }
  if (whole == 0)
    fields.report(key, "found 0 for 7g, expected a number: the rest is relative to it");
  return speed;
}

SpeedProfile read_profile(const JsonFields& fields, const Sets& sets) {
  fields.only({"name", "set", "kind", "speed", "time_s", "memory_mib", "watts", "caveat"});
  SpeedProfile profile;
  profile.name = fields.text("name");
  if (!is_kebab(profile.name)) {
    fields.report("name", fmt::format("found {}, expected small letters, digits and '-'",
                                      in_quotes(profile.name)));
  }
  profile.set = fields.text("set");
  const auto set = sets.find(profile.set);
  if (set == sets.end()) {
    fields.report("set",
                  fmt::format("found {}, expected one of the file's sets", in_quotes(profile.set)));
    return profile;
  }
  const std::string kind = fields.text("kind");
  if (kind != "training" && kind != "inference") {
    fields.report("kind", fmt::format("found {}, expected training or inference", in_quotes(kind)));
  }
  profile.kind = kind == "training" ? JobKind::kTraining : JobKind::kInference;
  profile.speed = read_speed(fields);
  if (fields.has("memory_mib")) profile.memory_mib = fields.integer("memory_mib", 0, 1 << 24);
  if (fields.has("watts")) profile.watts = read_sizes(fields, "watts", 1e5);
  profile.board = set->second.board;
  profile.source = set->second.source;
  profile.caveat = set->second.caveat;
  const std::string own = fields.text("caveat", "");
  if (!profile.caveat.empty() && !own.empty()) profile.caveat += "; ";
  profile.caveat += own;
  return profile;
}

}  // namespace

Result<Catalogue> Catalogue::parse(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  if (!document.parse(json)) return tl::unexpected(*document.error());
  const JsonFields root = document.root();
  root.only({"about", "sets", "profiles"});
  const Sets sets = read_sets(root.object("sets"));

  Catalogue catalogue;
  std::map<std::string, std::size_t> seen;
  root.each("profiles", [&](const JsonFields& fields) {
    if (document.error()) return;
    SpeedProfile profile = read_profile(fields, sets);
    const auto [first, is_new] = seen.emplace(profile.name, seen.size());
    if (!is_new) {
      fields.report("name", fmt::format("found {}, which profiles[{}] has, expected a new name",
                                        in_quotes(profile.name), first->second));
    }
    catalogue.profiles_.push_back(std::move(profile));
  });
  // An index into the catalogue is 16 bits, and the last value means none.
  if (catalogue.profiles_.size() >= kNoProfile) {
    root.report("profiles", fmt::format("found {} entries, expected fewer than {}",
                                        catalogue.profiles_.size(), kNoProfile));
  }
  if (document.error()) return tl::unexpected(*document.error());
  return catalogue;
}

const Catalogue& Catalogue::shipped() {
  static const Catalogue catalogue = [] {
    auto parsed = parse(shipped_file("profiles.json"), "profiles.json");
    SM_CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return catalogue;
}

Result<std::uint16_t> Catalogue::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const SpeedProfile& profile : profiles_) {
    if (profile.name == name) return static_cast<std::uint16_t>(names.size());
    names.push_back(profile.name);
  }
  // Where no name is near, a list of all would fill a screen: the sets say where to look.
  const std::string near = nearest(name, names);
  if (!near.empty()) {
    return fail("no speed profile {}; did you mean '{}'?", in_quotes(name), near);
  }
  return fail("no speed profile {}; the catalogue has the sets {}", in_quotes(name),
              join(sets(), ", "));
}

std::vector<std::string> Catalogue::sets() const {
  std::vector<std::string> sets;
  for (const SpeedProfile& profile : profiles_) {
    if (std::find(sets.begin(), sets.end(), profile.set) == sets.end()) sets.push_back(profile.set);
  }
  return sets;
}

}  // namespace smartmig
