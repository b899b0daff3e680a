// The answers of FleetService, as text.
#include <fmt/format.h>

#include <iterator>

#include "drivers/simulated/fleet_service.h"

namespace smartmig {
namespace {

constexpr std::size_t kMaxEvents = 10'000;  // Of one answer.

std::string_view phase_name(RunPhase phase) {
  switch (phase) {
    case RunPhase::kIdle:
      return "idle";
    case RunPhase::kRunning:
      return "running";
    case RunPhase::kSaving:
      return "saving";
  }
  return {};
}

void write_reading(const GpuReading& reading, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"lost\":{},\"changing\":{},\"power_w\":{},\"energy_j\":{},\"slices\":[",
                 reading.lost, reading.changing, reading.power_w, reading.energy_j);
  for (const SliceReading& slice : reading.slices) {
    if (&slice != reading.slices.data()) out += ',';
    fmt::format_to(std::back_inserter(out), "[\"{}\",{},\"{}\",", slice.uuid, slice.slot,
                   phase_name(slice.phase));
    write_json_text(slice.run, out);
    fmt::format_to(std::back_inserter(out), ",{}]", slice.begin_us);
  }
  out += "]}";
}

}  // namespace

void FleetService::succeed(Client client, const FleetRequest& request, std::string_view result) {
  answers_.emplace_back(client, fmt::format("{{\"id\":{},\"ok\":{}}}\n", request.id, result));
}

void FleetService::refuse(Client client, const FleetRequest& request, const DriverError& error) {
  std::string line = fmt::format("{{\"id\":{},\"error\":{{\"code\":\"{}\",\"message\":", request.id,
                                 to_string(error.code));
  write_json_text(error.message, line);
  line += "}}\n";
  answers_.emplace_back(client, std::move(line));
}

std::string FleetService::description() const {
  const SimulatedFleet& machine = store_.machine();
  const FleetClock& clock = store_.clock();
  std::string out =
      fmt::format("{{\"fleet_id\":\"{}\",\"last_event\":{},\"epoch\":{},\"owner\":", machine.id(),
                  machine.last_event(), machine.epoch());
  write_json_text(owner_, out);
  fmt::format_to(std::back_inserter(out),
                 ",\"clock\":{{\"fleet_us\":{},\"monotonic_ns\":{},\"speed\":{}}},\"gpus\":[",
                 clock.fleet_us, clock.monotonic_ns, clock.speed);
  for (GpuIndex gpu = 0; gpu < machine.fleet().gpu_count(); ++gpu) {
    fmt::format_to(std::back_inserter(out), "{}[\"{}\",\"{}\"]", gpu == 0 ? "" : ",",
                   machine.gpu_uuid(gpu), machine.fleet().board(gpu).name);
  }
  out += "]}";
  return out;
}

DriverResult<std::string> FleetService::reading(GpuIndex gpu) const {
  const auto found = store_.machine().read(gpu);
  if (!found) return tl::unexpected(found.error());
  std::string out;
  write_reading(*found, out);
  return out;
}

std::string FleetService::readings() const {
  std::string out = "[";
  for (GpuIndex gpu = 0; gpu < store_.machine().fleet().gpu_count(); ++gpu) {
    if (gpu > 0) out += ',';
    write_reading(*store_.machine().read(gpu), out);
  }
  out += ']';
  return out;
}

void FleetService::send_events(Client client, const FleetRequest& request) {
  std::string out = "[";
  std::size_t count = 0;
  for (const FleetEvent& event : store_.machine().events()) {
    if (event.number <= request.after) continue;
    if (count++ > 0) out += ',';
    write_event(event, out);
    if (count == kMaxEvents) break;
  }
  out += ']';
  succeed(client, request, out);
}

std::string FleetService::list() const {
  std::string out = "{\"faults\":[";
  for (const Fault& fault : faults_.faults()) {
    if (&fault != faults_.faults().data()) out += ',';
    write_fault(fault, out);
  }
  out += "],\"behaviours\":[";
  for (const BehaviourRule& rule : behaviours_.rules()) {
    if (&rule != behaviours_.rules().data()) out += ',';
    write_rule(rule, out);
  }
  out += "]}";
  return out;
}

std::string FleetService::runs(std::uint64_t after, int limit) const {
  const RunLedger& ledger = store_.machine().ledger();
  std::string out = fmt::format("{{\"started\":{},\"runs\":[", ledger.count());
  const char* separator = "";
  for (const RunRecord* record : ledger.after(after, static_cast<std::size_t>(limit))) {
    out += separator;
    write_run(*record, out);
    separator = ",";
  }
  out += "]}";
  return out;
}

}  // namespace smartmig
