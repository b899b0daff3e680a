#include "drivers/simulated/fleet_store.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "base/file.h"
#include "base/text.h"

namespace smartmig {
namespace {

using nlohmann::json;

// The file is rewritten when it has grown by this and by twice its first record.
constexpr std::uint64_t kGrowth = 8 << 20;
constexpr std::string_view kRecordBegin = "{\"t\":";

// Tells one run of the host from the next, where its monotonic clock starts again.
std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string("unknown");
}

std::string random_id() {
  std::random_device device;
  return fmt::format("sim-{:08x}{:08x}", device(), device());
}

// The time of a record as apply() writes it, exact where a double is not.
TimeUs time_of(const std::string& record) {
  TimeUs time_us = 0;
  const std::size_t begin = std::min(kRecordBegin.size(), record.size());
  std::from_chars(record.data() + begin, record.data() + record.size(), time_us);
  return std::clamp<TimeUs>(time_us, 0, kLastFleetUs);
}

// Does what a record of the file says.
Result<void> replay(SimulatedFleet& machine, const std::string& record, const std::string& where) {
  JsonDocument document(where);
  if (!document.parse(record)) return tl::unexpected(*document.error());
  const JsonFields fields = document.root();
  (void)fields.number("t", 0, static_cast<double>(kLastFleetUs));
  const TimeUs time_us = time_of(record);
  const auto kind = fleet_change_kind(fields.text("op"));
  if (!kind) return fail("{}: op: is no change of a fleet", where);
  const FleetChange change = read_change(*kind, fields);
  if (document.error()) return tl::unexpected(*document.error());
  machine.advance_to(time_us);
  // One that was refused then is refused again.
  static_cast<void>(machine.apply(change));
  return {};
}

struct Restored {
  SimulatedFleet machine;
  FleetClock clock;
  std::string boot;
};

Result<Restored> restore(const std::vector<std::string>& records, const std::string& path) {
  const json first = parse_json(records.front());
  if (!first.is_object() || !first.contains("snapshot") || !first.contains("clock"))
    return fail("{}:1: is no snapshot of a fleet", path);
  auto machine = SimulatedFleet::load(first["snapshot"]);
  if (!machine) return fail("{}:1: {}", path, machine.error().message);
  Restored restored{std::move(*machine), {}, {}};
  try {
    const json& clock = first.at("clock");
    restored.clock = {.fleet_us = clock.at("fleet_us").get<TimeUs>(),
                      .monotonic_ns = clock.at("monotonic_ns").get<std::int64_t>(),
                      .speed = clock.at("speed").get<double>()};
    restored.boot = clock.at("boot").get<std::string>();
  } catch (const json::exception& error) {
    return fail("{}:1: clock: {}", path, error.what());
  }
  if (restored.clock.fleet_us < 0 || restored.clock.fleet_us > kLastFleetUs)
    return fail("{}:1: clock: fleet_us: found {}, expected a whole number from 0 to {}", path,
                restored.clock.fleet_us, kLastFleetUs);
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (auto done = replay(restored.machine, records[i], fmt::format("{}:{}", path, i + 1)); !done)
      return pass_on(done);
  }
  return restored;
}

Result<Restored> restore_or_make(const std::vector<std::string>& records, const std::string& path,
                                 const std::string& spec) {
  if (records.empty()) {
    auto fleet = Fleet::parse(spec);
    if (!fleet) return pass_on(fleet);
    return Restored{SimulatedFleet(std::move(*fleet), random_id()), {}, {}};
  }
  auto restored = restore(records, path);
  if (!restored || spec.empty()) return restored;
  const auto asked = Fleet::parse(spec);
  if (!asked) return pass_on(asked);
  const std::string there = restored->machine.fleet().name();
  if (asked->name() != there)
    return fail("fleet: found '{}', expected '{}', which {} has", asked->name(), there, path);
  return restored;
}

}  // namespace

Result<FleetStore> FleetStore::open(const std::string& path, const std::string& fleet,
                                    std::optional<double> given_speed, std::int64_t now_ns) {
  auto log = StateLog::open(path);
  if (!log) return pass_on(log);
  auto restored = restore_or_make(log->take_records(), path, fleet);
  if (!restored) return pass_on(restored);
  const double speed = given_speed.value_or(restored->clock.speed);
  FleetStore store(std::move(*log), std::move(restored->machine));
  if (restored->boot == boot_id() && now_ns >= restored->clock.monotonic_ns)
    store.machine_.advance_to(restored->clock.at(now_ns));
  store.clock_ = {.fleet_us = store.machine_.now(), .monotonic_ns = now_ns, .speed = speed};
  // Nobody who asked for something is still there.
  FleetChange abandoned{.kind = FleetChange::Kind::kAbandon, .gpu = kNone};
  static_cast<void>(store.machine_.apply(abandoned));
  FleetChange paced{.kind = FleetChange::Kind::kSpeed, .speed = speed};
  if (store.machine_.speed() != speed) static_cast<void>(store.machine_.apply(paced));
  if (auto written = store.compact(); !written) return pass_on(written);
  return store;
}

std::int64_t FleetStore::ns_of(TimeUs fleet_us) const {
  if (fleet_us == kNever) return INT64_MAX;
  const double ns = static_cast<double>(fleet_us - clock_.fleet_us) * 1e3 / clock_.speed;
  // A microsecond more, as both ways round.
  return ns > 9e18 ? INT64_MAX
                   : clock_.monotonic_ns + static_cast<std::int64_t>(std::ceil(ns)) + 1000;
}

DriverResult<SimulatedFleet::Done> FleetStore::apply(const FleetChange& change) {
  record_ = fmt::format("{}{},", kRecordBegin, machine_.now());
  write_change(change, record_);
  record_ += '}';
  if (auto written = log_.append(record_); !written)
    return tl::unexpected(DriverError{DriverCode::kUnknown, written.error().message});
  auto done = machine_.apply(change);
  // A full disk may keep the file long; it is tried again with the next change.
  if (log_.size() > kGrowth + 3 * log_.first_size()) static_cast<void>(compact());
  return done;
}

Result<void> FleetStore::compact() {
  std::string text = fmt::format(
      "{{\"clock\":{{\"fleet_us\":{},\"monotonic_ns\":{},\"speed\":{},\"boot\":\"{}\"}},"
      "\"snapshot\":",
      clock_.fleet_us, clock_.monotonic_ns, clock_.speed, boot_id());
  machine_.save(text);
  text += '}';
  return log_.restart(text);
}

}  // namespace smartmig
