#include "policy/knobs.h"

#include "base/shipped.h"

namespace smartmig {
namespace {

constexpr std::array<KnobInfo, kKnobCount> kInfos = {{
    {"on_time", 0.5},
    {"price_now", 0.15},
    {"price_now_backlog", 0.2},
    {"price_now_load", 0.3},
    {"price_later", 0.15},
    {"price_later_backlog", 0.15},
    {"price_later_load", 0.3},
    {"price_later_trend", 0.4},
    {"horizon", 0.3},
    {"laxity", 0.5},
    {"tilt_from", 0.3},
    {"tilt", 0.03},
    {"tilt_backlog", 0.04},
    {"training", 0.05},
    {"training_backlog", 0.07},
    {"least", 0.4},
    {"steepness", 0.15},
    {"steepness_backlog", 0.15},
    {"price_overload", 0.2},
    {"tilt_overload", 0.05},
    {"steepness_overload", 0.2},
    {"hold", 0.15},
    {"margin", 0.6},
    {"back", 0.4},
    {"back_backlog", 0.4},
    {"least_run", 0.5},
    {"energy", 0.4},
    {"stop", 0.4},
    {"room", 0.5},
    {"distrust", 0.2},
    {"move_gain", 0.4},
}};

constexpr std::string_view kKind = "smartmig";
constexpr std::string_view kVersion = "2";  // Counts up when a knob's meaning changes.

}  // namespace

std::span<const KnobInfo, kKnobCount> knob_infos() { return kInfos; }

SmartmigKnobs first_knobs() {
  const Knobs free_moves = {-4.5,  0.45,  0,     0.2,  0.95, -0.1, 1,   0.5, 2.3,  2,  -0.3,
                            -0.15, -0.05, -0.15, -0.1, -2.5, 0.3,  0.3, 1,   -0.1, 0.8};
  Knobs costly_moves = free_moves;
  const auto set = [&](Knob knob, double value) {
    costly_moves[static_cast<std::size_t>(knob)] = value;
  };
  set(Knob::kMargin, 0.5);
  set(Knob::kBack, 1);
  set(Knob::kEnergy, -8);
  set(Knob::kStop, 0);
  set(Knob::kRoom, -6);
  set(Knob::kDistrust, 0.5);
  return {free_moves, costly_moves};
}

void put_knobs(TensorFile& file, const SmartmigKnobs& knobs) {
  file.metadata.insert_or_assign("policy", std::string(kKind));
  file.metadata.insert_or_assign("knobs_version", std::string(kVersion));
  file.put("free_moves", std::span<const double>(knobs.free_moves));
  file.put("costly_moves", std::span<const double>(knobs.costly_moves));
}

Result<SmartmigKnobs> get_knobs(const TensorFile& file, std::string_view name) {
  for (const auto& [key, expected] :
       {std::pair{"policy", kKind}, std::pair{"knobs_version", kVersion}}) {
    const auto found = file.text(key, name);
    if (!found) return pass_on(found);
    if (*found != expected)
      return fail("{}: metadata '{}' is '{}', expected '{}'", name, key, *found, expected);
  }
  SmartmigKnobs knobs;
  for (const auto& [key, values] : {std::pair{"free_moves", &knobs.free_moves},
                                    std::pair{"costly_moves", &knobs.costly_moves}}) {
    const auto found = file.doubles(key, kKnobCount, name);
    if (!found) return pass_on(found);
    std::copy(found->begin(), found->end(), values->begin());
  }
  return knobs;
}

Result<SmartmigKnobs> read_knobs(const std::string& path) {
  if (!path.empty()) {
    const auto file = read_safetensors(path);
    if (!file) return pass_on(file);
    return get_knobs(*file, path);
  }
  constexpr std::string_view name = "smartmig.safetensors";
  const auto file = decode_safetensors(shipped_file(name), name);
  if (!file) return pass_on(file);
  return get_knobs(*file, name);
}

}  // namespace smartmig
