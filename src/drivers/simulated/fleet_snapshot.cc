// A SimulatedFleet as one JSON object and back (docs/formats/simulated-fleet.md). Written by hand
// rather than through a tree of values: 70,000 runs are some ten megabytes, and the fleet stands
// still meanwhile.
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "drivers/simulated/simulated_fleet.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kEventNames = {"ended", "failed", "saved", "killed",
                                                         "changed"};

}  // namespace

std::string_view to_string(FleetEvent::Kind kind) {
  return kEventNames[static_cast<std::size_t>(kind)];
}

std::optional<FleetEvent::Kind> fleet_event_kind(std::string_view name) {
  for (std::size_t i = 0; i < kEventNames.size(); ++i) {
    if (kEventNames[i] == name) return static_cast<FleetEvent::Kind>(i);
  }
  return std::nullopt;
}

void write_event(const FleetEvent& event, std::string& out) {
  fmt::format_to(std::back_inserter(out), "[{},{},\"{}\",{},", event.number, event.at_us,
                 to_string(event.kind), event.gpu);
  write_json_text(event.run, out);
  fmt::format_to(std::back_inserter(out), ",{},", event.left);
  write_json_text(event.message, out);
  out += ']';
}

FleetEvent load_event(const json& saved) {
  FleetEvent event;
  event.number = saved.at(0).get<std::uint64_t>();
  event.at_us = saved.at(1).get<TimeUs>();
  const auto kind = fleet_event_kind(saved.at(2).get_ref<const std::string&>());
  event.kind = kind.value_or(FleetEvent::Kind::kChanged);
  event.gpu = saved.at(3).get<GpuIndex>();
  event.run = saved.at(4).get<std::string>();
  event.left = saved.at(5).get<double>();
  event.message = saved.at(6).get<std::string>();
  return event;
}

void SimulatedFleet::save_run(const Run& run, std::string& out) {
  out += '[';
  write_json_text(run.name, out);
  fmt::format_to(std::back_inserter(out), ",{},{},{},{},{},{},{},{},{},{:d},{},{:d}]", run.start_us,
                 run.begin_us, run.end_us, run.fail_us, run.obey_us, run.checkpoint_us, run.left,
                 run.saved_left, run.watts, run.phase == RunPhase::kSaving, run.ignore_stop_us,
                 run.ignore_kill);
}

SimulatedFleet::Run SimulatedFleet::load_run(const json& saved) {
  Run run;
  run.name = saved.at(0).get<std::string>();
  run.start_us = saved.at(1).get<TimeUs>();
  run.begin_us = saved.at(2).get<TimeUs>();
  run.end_us = saved.at(3).get<TimeUs>();
  run.fail_us = saved.at(4).get<TimeUs>();
  run.obey_us = saved.at(5).get<TimeUs>();
  run.checkpoint_us = saved.at(6).get<TimeUs>();
  run.left = saved.at(7).get<double>();
  run.saved_left = saved.at(8).get<double>();
  run.watts = saved.at(9).get<double>();
  run.phase = saved.at(10).get<int>() != 0 ? RunPhase::kSaving : RunPhase::kRunning;
  run.ignore_stop_us = saved.at(11).get<TimeUs>();
  run.ignore_kill = saved.at(12).get<int>() != 0;
  return run;
}

void SimulatedFleet::save_gpu(const Gpu& gpu, std::string& out) const {
  const Operation& operation = gpu.operation;
  fmt::format_to(std::back_inserter(out),
                 "{{\"lost\":{},\"free_us\":{},\"operation\":[{:d},{},{:d},{},\"{}\"],\"slices\":[",
                 gpu.lost, gpu.free_us, static_cast<int>(operation.kind), operation.slot,
                 operation.awaited, operation.end_us, operation.uuid);
  for (const Slice& slice : gpu.slices) {
    if (&slice != gpu.slices.data()) out += ',';
    fmt::format_to(std::back_inserter(out), "[\"{}\",{},{}", slice.uuid, slice.slot,
                   slice.since_us);
    if (slice.run) {
      out += ',';
      save_run(*slice.run, out);
    }
    out += ']';
  }
  out += "],\"meter\":";
  gpu.meter.save(out);
  out += '}';
}

void SimulatedFleet::load_gpu(GpuIndex index, const json& saved) {
  Gpu& gpu = gpus_[index];
  gpu.lost = saved.at("lost").get<bool>();
  gpu.free_us = saved.at("free_us").get<TimeUs>();
  gpu.meter = BoardMeter::load(saved.at("meter"));
  for (const json& item : saved.at("slices")) {
    Slice& slice = add_slice(index, item.at(1).get<std::uint8_t>(), item.at(0).get<std::string>(),
                             item.at(2).get<TimeUs>());
    if (item.size() < 4) continue;
    slice.run = std::make_unique<Run>(load_run(item.at(3)));
    schedule(index, slice);
  }
  const json& operation = saved.at("operation");
  if (const int kind = operation.at(0).get<int>(); kind != 0) {
    begin_operation(index, {.kind = static_cast<Operation::Kind>(kind),
                            .slot = operation.at(1).get<std::uint8_t>(),
                            .awaited = operation.at(2).get<int>() != 0,
                            .end_us = operation.at(3).get<TimeUs>(),
                            .uuid = operation.at(4).get<std::string>()});
  }
}

void SimulatedFleet::save(std::string& out) const {
  fmt::format_to(std::back_inserter(out),
                 "{{\"id\":\"{}\",\"fleet\":\"{}\",\"now_us\":{},\"floor_us\":{},\"speed\":{},"
                 "\"epoch\":{},\"slices_made\":{},\"last_event\":{},\"last_event_us\":{},"
                 "\"gpus\":[",
                 id_, fleet_.name(), now_, floor_us_, speed_, epoch_, slices_made_, last_event_,
                 last_event_us_);
  for (const Gpu& gpu : gpus_) {
    if (&gpu != gpus_.data()) out += ',';
    save_gpu(gpu, out);
  }
  out += "],\"events\":[";
  for (const FleetEvent& event : events_) {
    if (&event != &events_.front()) out += ',';
    write_event(event, out);
  }
  out += "],\"runs\":";
  ledger_.save(out);
  out += '}';
}

Result<SimulatedFleet> SimulatedFleet::load(const json& saved) {
  try {
    auto fleet = Fleet::parse(saved.at("fleet").get<std::string>());
    if (!fleet) return pass_on(fleet);
    SimulatedFleet machine(std::move(*fleet), saved.at("id").get<std::string>());
    machine.now_ = saved.at("now_us").get<TimeUs>();
    machine.floor_us_ = saved.at("floor_us").get<TimeUs>();
    machine.speed_ = saved.at("speed").get<double>();
    machine.epoch_ = saved.at("epoch").get<std::uint64_t>();
    machine.slices_made_ = saved.at("slices_made").get<std::uint64_t>();
    machine.last_event_ = saved.at("last_event").get<std::uint64_t>();
    machine.last_event_us_ = saved.at("last_event_us").get<TimeUs>();
    const json& gpus = saved.at("gpus");
    if (gpus.size() != machine.gpus_.size())
      return fail("found {} GPUs, expected {}", gpus.size(), machine.gpus_.size());
    for (GpuIndex gpu = 0; gpu < machine.gpus_.size(); ++gpu) machine.load_gpu(gpu, gpus[gpu]);
    for (const json& event : saved.at("events")) machine.events_.push_back(load_event(event));
    machine.ledger_.load(saved.at("runs"));
    return machine;
  } catch (const json::exception& error) {
    return fail("is no snapshot of a fleet ({})", error.what());
  }
}

}  // namespace smartmig
