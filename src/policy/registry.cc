#include "policy/registry.h"

#include <algorithm>

#include "base/text.h"
#include "policy/learned.h"
#include "policy/partitioners.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

using MakePlacer = std::unique_ptr<Placer> (*)(const PolicyOptions&);
struct PlacerEntry {
  std::string name;
  std::string what;
  MakePlacer make;
};
const std::vector<PlacerEntry>& placers() {
  static const std::vector<PlacerEntry> entries = {
      {"edf", "earliest deadline first, most packed GPU, slowest slice on time",
       [](auto&) { return make_edf(); }},
      {"met", "earliest deadline first, least added energy and tardiness",
       [](auto& o) { return make_met(o.energy_weight); }},
      {"cedf", "jobs that need large slices first, GPUs with large slices first",
       [](auto&) { return make_cedf(); }},
      {"random", "earliest deadline first, any free slice",
       [](auto& o) { return make_random(o.seed); }},
      {"earliest-finish", "the slice where it ends first",
       [](auto&) { return make_earliest_finish(); }},
      {"largest-first", "the largest free slice", [](auto&) { return make_largest_first(); }},
      {"smallest-first", "the smallest free slice", [](auto&) { return make_smallest_first(); }},
      {"first-fit", "the free slice with the lowest index", [](auto&) { return make_first_fit(); }},
      {"slowest-on-time", "the smallest slice that ends on time, else the fastest",
       [](auto&) { return make_slowest_on_time(); }},
      {"shortest-remaining", "least work left first, slices as cedf",
       [](auto&) { return make_shortest_remaining(); }},
      {"least-laxity", "least slack first, slices as slowest-on-time",
       [](auto&) { return make_least_laxity(); }},
  };
  return entries;
}

struct Named {
  std::string name;
  std::string what;
};
const std::vector<Named>& partitioners() {
  static const std::vector<Named> entries = {
      {"none", "every GPU whole"},
      {"static", "static:LAYOUTS, one layout for each GPU, LAYOUT*COUNT repeats"},
      {"day-night",
       "day-night:HOUR=LAYOUTS+HOUR=LAYOUTS, two lists and when each comes into force (8, 20:30)"},
      {"count", "as many slices as jobs in the system"},
  };
  return entries;
}
// They come from files of trained networks.
const std::vector<Named>& learned_partitioners() {
  static const std::vector<Named> entries = {
      {"mean-field", "mean-field[:FILE], learned: next layouts by distributions, every 5 events"},
      {"one-gpu", "one-gpu[:FILE], learned: the next layout of a fleet of one GPU"},
  };
  return entries;
}
const Named& learned_placer() {
  static const Named entry = {"learned",
                              "learned[:FILE], earliest deadline first, a network chooses"};
  return entry;
}
const std::vector<Named>& joints() {
  static const std::vector<Named> entries = {
      {"greedy", "sizes jobs by what they gain, repacks all GPUs at every event"},
      {"smartmig", "smartmig[:FILE], the best one: sizes jobs by learned prices of slices"}};
  return entries;
}

template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

// "8", "8:00" or "20:30" -> time of day.
std::optional<TimeUs> parse_time_of_day(std::string_view text) {
  const auto pieces = split(text, ':');
  const auto hour = parse_integer(pieces[0]);
  const auto minute =
      pieces.size() == 2 ? parse_integer(pieces[1]) : std::optional<std::int64_t>(0);
  if (pieces.size() > 2 || !hour || !minute || *hour < 0 || *hour > 23 || *minute < 0 ||
      *minute > 59)
    return std::nullopt;
  return *hour * kHourUs + *minute * kMinuteUs;
}

Result<std::unique_ptr<Partitioner>> make_day_night_from(std::string_view argument,
                                                         const Fleet& fleet) {
  const auto halves = split(argument, '+');
  if (halves.size() != 2)
    return fail("policy day-night: found '{}', expected HOUR=LAYOUTS+HOUR=LAYOUTS", argument);
  DayNight plan;
  for (int i = 0; i < 2; ++i) {
    const std::size_t equals = halves[i].find('=');
    const auto from = parse_time_of_day(halves[i].substr(0, equals));
    if (equals == std::string_view::npos || !from) {
      return fail(
          "policy day-night: found '{}', expected a time of day such as 8 or 20:30, then =LAYOUTS",
          halves[i]);
    }
    auto layouts = parse_layout_list(halves[i].substr(equals + 1), fleet);
    if (!layouts) return pass_on(layouts);
    plan.layouts[i] = std::move(*layouts);
    plan.from_us[i] = *from;
  }
  if (plan.from_us[0] == plan.from_us[1])
    return fail("policy day-night: both lists start at the same time of day");
  if (plan.from_us[0] > plan.from_us[1]) {
    std::swap(plan.from_us[0], plan.from_us[1]);
    std::swap(plan.layouts[0], plan.layouts[1]);
  }
  return make_day_night(std::move(plan));
}

// A partitioner, and its layouts where they never change.
struct MadePartitioner {
  std::unique_ptr<Partitioner> partitioner;
  std::vector<SlotSet> fixed_layouts;
};

Result<MadePartitioner> from(Result<std::unique_ptr<Partitioner>> made) {
  if (!made) return pass_on(made);
  return MadePartitioner{std::move(*made), {}};
}

Result<MadePartitioner> make_partitioner(std::string_view text, const Fleet& fleet,
                                         std::uint64_t seed) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? text.substr(colon + 1) : std::string_view();
  if (name == "static") {
    if (!has_argument) return fail("policy static: expected layouts, as in static:4-2-1*8/cedf");
    auto layouts = parse_layout_list(argument, fleet);
    if (!layouts) return pass_on(layouts);
    return MadePartitioner{make_static(*layouts), std::move(*layouts)};
  }
  if (name == "day-night") return from(make_day_night_from(argument, fleet));
  if (name == "mean-field" || name == "one-gpu") {
    if (has_argument && argument.empty())
      return fail("policy {}: expected a file after the ':'", name);
    const LearnedKind kind = name == "one-gpu" ? LearnedKind::kOneGpu : LearnedKind::kMeanField;
    return from(read_learned_layouts(kind, std::string(argument), fleet, seed));
  }
  if (name == "none" || name == "count") {
    if (has_argument) return fail("policy {}: takes no argument, found '{}'", name, argument);
    if (name == "none") return MadePartitioner{make_none(), {}};
    return MadePartitioner{make_count(), {}};
  }
  auto known = partitioner_names();
  for (const Named& entry : learned_partitioners()) known.push_back(entry.name);
  return fail("unknown partitioner '{}'{}", name, suggestion(name, known));
}

Result<std::unique_ptr<Placer>> make_placer(std::string_view text, const Fleet& fleet,
                                            std::span<const SlotSet> fixed_layouts,
                                            const PolicyOptions& options) {
  const std::size_t colon = text.find(':');
  if (text.substr(0, colon) == learned_placer().name) {
    const std::string_view file = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    if (colon != std::string_view::npos && file.empty())
      return fail("policy learned: expected a file after the ':'");
    return read_learned_placer(std::string(file), fleet, fixed_layouts, options.seed);
  }
  const auto entry = std::find_if(placers().begin(), placers().end(),
                                  [&](const auto& e) { return e.name == text; });
  if (entry != placers().end()) return entry->make(options);
  auto known = placer_names();
  known.push_back(learned_placer().name);
  return fail("unknown placer '{}'{}", text, suggestion(text, known));
}

// Where the placer's name begins, less one: files may have slashes in their names.
std::size_t find_slash(std::string_view spec) {
  const std::size_t learned = spec.rfind("/learned:");
  return learned == std::string_view::npos ? spec.rfind('/') : learned;
}

}  // namespace

Result<Policy> make_policy(std::string_view spec, const Fleet& fleet,
                           const PolicyOptions& options) {
  Policy policy;
  policy.name = std::string(spec);
  const std::string_view joint = spec.substr(0, spec.find(':'));
  if (joint == "smartmig") {
    const std::string file(spec.substr(std::min(spec.size(), joint.size() + 1)));
    if (file.empty() && spec.size() > joint.size())
      return fail("policy smartmig: expected a file after the ':'");
    const auto knobs = read_knobs(file);
    if (!knobs) return pass_on(knobs);
    policy.partitioner = make_smartmig(*knobs, fleet);
    return policy;
  }
  const std::size_t slash = find_slash(spec);
  if (slash == std::string_view::npos) {
    if (spec == "greedy") {
      policy.partitioner = make_greedy();
      return policy;
    }
    auto known = joint_names();
    auto halves = partitioner_names();
    for (const Named& entry : learned_partitioners()) halves.push_back(entry.name);
    for (const auto& name : halves) {
      if (spec.substr(0, spec.find(':')) == name)
        return fail("policy '{}' names no placer, expected {}/PLACER", spec, spec);
      known.push_back(name);
    }
    return fail("unknown policy '{}'{}", spec, suggestion(spec, known));
  }
  auto made = make_partitioner(spec.substr(0, slash), fleet, options.seed);
  if (!made) return pass_on(made);
  policy.partitioner = std::move(made->partitioner);
  auto placer = make_placer(spec.substr(slash + 1), fleet, made->fixed_layouts, options);
  if (!placer) return pass_on(placer);
  policy.placer = std::move(*placer);
  return policy;
}

std::vector<std::string> partitioner_names() { return names_of(partitioners()); }
std::vector<std::string> placer_names() { return names_of(placers()); }
std::vector<std::string> joint_names() { return names_of(joints()); }

std::string describe_policies() {
  std::string text = "Policies: PARTITIONER/PLACER, or a joint policy alone.\nPartitioners:\n";
  for (const auto& entry : partitioners())
    text += fmt::format("  {:20}{}\n", entry.name, entry.what);
  for (const auto& entry : learned_partitioners())
    text += fmt::format("  {:20}{}\n", entry.name, entry.what);
  text += "Placers:\n";
  for (const auto& entry : placers()) text += fmt::format("  {:20}{}\n", entry.name, entry.what);
  text += fmt::format("  {:20}{}\n", learned_placer().name, learned_placer().what);
  text += "Joint:\n";
  for (const auto& entry : joints()) text += fmt::format("  {:20}{}\n", entry.name, entry.what);
  return text;
}

}  // namespace smartmig
