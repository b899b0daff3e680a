#include "policy/registry.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "policy/learned.h"
#include "policy/miso.h"
#include "policy/on_demand.h"
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
      {"apparent-tardiness",
       "what a delay costs most first, by slack and work left; slices as cedf",
       [](auto&) { return make_apparent_tardiness(); }},
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

// NAME or NAME:ARGUMENT, as a user writes each half of a policy.
struct Word {
  std::string_view name;
  std::optional<std::string_view> argument;
};
Word parse_word(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}
Result<void> expect_no_argument(const Word& word) {
  if (!word.argument) return {};
  return fail("policy {}: takes no argument, found '{}'", word.name, *word.argument);
}
// "" where none is named: what is shipped.
Result<std::string> file_of(const Word& word) {
  if (!word.argument) return std::string();
  if (word.argument->empty()) return fail("policy {}: expected a file after the ':'", word.name);
  return std::string(*word.argument);
}

using MakeJoint = Result<std::unique_ptr<Partitioner>> (*)(const Word&, const Fleet&,
                                                           const PolicyOptions&);
struct JointEntry {
  std::string name;
  std::string what;
  MakeJoint make;
};
Result<std::unique_ptr<Partitioner>> make_greedy_from(const Word& word, const Fleet&,
                                                      const PolicyOptions&) {
  if (const auto none = expect_no_argument(word); !none) return pass_on(none);
  return make_greedy();
}
Result<std::unique_ptr<Partitioner>> make_queue_prices_from(const Word& word, const Fleet&,
                                                            const PolicyOptions& options) {
  if (const auto none = expect_no_argument(word); !none) return pass_on(none);
  return make_queue_prices(options.energy_weight);
}
Result<std::unique_ptr<Partitioner>> make_prices_from(const Word& word, const Fleet& fleet,
                                                      const PolicyOptions& options) {
  const auto file = file_of(word);
  if (!file) return pass_on(file);
  const auto knobs = read_knobs(*file);
  if (!knobs) return pass_on(knobs);
  return make_prices(*knobs, fleet, options.energy_weight);
}
Result<std::unique_ptr<Partitioner>> make_on_demand_from(const Word& word, const Fleet& fleet,
                                                         const PolicyOptions&) {
  if (!word.argument)
    return fail("policy on-demand: expected a request, as in on-demand:on-time or on-demand:asked");
  const auto rules = OnDemandRules::parse(*word.argument);
  if (!rules) return pass_on(rules);
  return make_on_demand(*rules, fleet);
}
Result<std::unique_ptr<Partitioner>> make_miso_from(const Word& word, const Fleet& fleet,
                                                    const PolicyOptions&) {
  if (!word.argument) return make_miso(fleet, 0);
  const auto profile_s = parse_number(*word.argument);
  if (!profile_s || *profile_s < 0 || *profile_s > 86400) {
    return fail("policy miso: found {}, expected seconds of profiling from 0 to 86400",
                in_quotes(*word.argument));
  }
  return make_miso(fleet, to_us(*profile_s));
}
const std::vector<JointEntry>& joints() {
  static const std::vector<JointEntry> entries = {
      {"greedy", "sizes jobs by what they gain, repacks all GPUs at every event", make_greedy_from},
      {"on-demand",
       "on-demand:REQUEST[,room|first|pack|spread][,skip|strict][,keep], a slice made for each job "
       "and destroyed at its end; REQUEST is asked, on-time or PROFILE=SIZE+PROFILE=SIZE...",
       make_on_demand_from},
      {"miso", "miso[:PROFILE_S], the layout of each GPU with the most speed for its jobs",
       make_miso_from},
      {"queue-prices", "sizes jobs by prices of slices that follow from the queue",
       make_queue_prices_from},
      {"prices", "prices[:FILE], sizes jobs by learned prices of slices", make_prices_from}};
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
  const Word word = parse_word(text);
  const std::string_view name = word.name;
  if (name == "static") {
    if (!word.argument) return fail("policy static: expected layouts, as in static:4-2-1*8/cedf");
    auto layouts = parse_layout_list(*word.argument, fleet);
    if (!layouts) return pass_on(layouts);
    return MadePartitioner{make_static(*layouts), std::move(*layouts)};
  }
  if (name == "day-night") return from(make_day_night_from(word.argument.value_or(""), fleet));
  if (name == "mean-field" || name == "one-gpu") {
    const auto file = file_of(word);
    if (!file) return pass_on(file);
    const LearnedKind kind = name == "one-gpu" ? LearnedKind::kOneGpu : LearnedKind::kMeanField;
    return from(read_learned_layouts(kind, *file, fleet, seed));
  }
  if (name == "none" || name == "count") {
    if (const auto none = expect_no_argument(word); !none) return pass_on(none);
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
  if (const Word word = parse_word(text); word.name == learned_placer().name) {
    const auto file = file_of(word);
    if (!file) return pass_on(file);
    return read_learned_placer(*file, fleet, fixed_layouts, options.seed);
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

Result<Policy> make_policy(std::string_view spec, const Fleet& fleet, const PolicyOptions& options,
                           std::span<const JointMaker> more) {
  Policy policy;
  policy.name = std::string(spec);
  const Word word = parse_word(spec);
  for (const JointMaker& joint : more) {
    if (joint.name != word.name) continue;
    auto made = joint.make(word.argument, fleet, options);
    if (made) made->name = policy.name;
    return made;
  }
  for (const JointEntry& joint : joints()) {
    if (joint.name != word.name) continue;
    auto made = joint.make(word, fleet, options);
    if (!made) return pass_on(made);
    policy.partitioner = std::move(*made);
    return policy;
  }
  const std::size_t slash = find_slash(spec);
  if (slash == std::string_view::npos) {
    auto known = joint_names(more);
    auto halves = partitioner_names();
    for (const Named& entry : learned_partitioners()) halves.push_back(entry.name);
    for (const auto& name : halves) {
      if (word.name == name)
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
std::vector<std::string> joint_names(std::span<const JointMaker> more) {
  auto names = names_of(joints());
  for (const JointMaker& joint : more) names.push_back(joint.name);
  return names;
}

std::string describe_policies(std::span<const JointMaker> more) {
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
  for (const auto& entry : more) text += fmt::format("  {:20}{}\n", entry.name, entry.what);
  return text;
}

}  // namespace smartmig
