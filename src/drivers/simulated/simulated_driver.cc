#include "drivers/simulated/simulated_driver.h"

#include <fmt/format.h>

#include "drivers/simulated/simulated_fleet.h"

namespace smartmig {
namespace {

using nlohmann::json;
using Kind = FleetChange::Kind;

// What `body` makes of an answer, whose form is the fleet's promise.
template <class Body>
auto interpret(const json& answer, Body body) -> DriverResult<decltype(body(answer))> {
  try {
    return body(answer);
  } catch (const json::exception& error) {
    return unreachable(fmt::format("the simulated fleet's answer: {}", error.what()));
  }
}

FleetDescription to_description(const json& answer) {
  FleetDescription description;
  description.fleet_id = answer.at("fleet_id").get<std::string>();
  description.last_event = answer.at("last_event").get<std::uint64_t>();
  for (const json& gpu : answer.at("gpus")) {
    description.gpus.push_back(gpu.at(0).get<std::string>());
    description.boards.push_back(gpu.at(1).get<std::string>());
  }
  const json& clock = answer.at("clock");
  description.clock = {.fleet_us = clock.at("fleet_us").get<TimeUs>(),
                       .monotonic_ns = clock.at("monotonic_ns").get<std::int64_t>(),
                       .speed = clock.at("speed").get<double>()};
  return description;
}

GpuReading to_reading(const json& answer) {
  GpuReading reading;
  reading.lost = answer.at("lost").get<bool>();
  reading.changing = answer.at("changing").get<bool>();
  reading.power_w = answer.at("power_w").get<double>();
  reading.energy_j = answer.at("energy_j").get<double>();
  for (const json& item : answer.at("slices")) {
    SliceReading& slice = reading.slices.emplace_back();
    slice.uuid = item.at(0).get<std::string>();
    slice.slot = item.at(1).get<std::uint8_t>();
    const auto& phase = item.at(2).get_ref<const std::string&>();
    slice.phase = phase == "running"  ? RunPhase::kRunning
                  : phase == "saving" ? RunPhase::kSaving
                                      : RunPhase::kIdle;
    slice.run = item.at(3).get<std::string>();
    slice.begin_us = item.at(4).get<TimeUs>();
  }
  return reading;
}

}  // namespace

void SimulatedDriver::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (FleetConnection* connection : in_use_) connection->hang_up();
  }
  const std::lock_guard claim_lock(claim_mutex_);
  // Not left to the end of the descriptor, of which a process that is just being spawned has a
  // copy.
  if (claim_) claim_->hang_up();
  claim_.reset();
}

SimulatedDriver::~SimulatedDriver() {
  close();
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return in_use_.empty(); });
}

DriverResult<std::unique_ptr<FleetConnection>> SimulatedDriver::take_connection() {
  std::unique_ptr<FleetConnection> connection;
  {
    const std::lock_guard lock(mutex_);
    while (!connection && !idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
      // One of a process that has ended meanwhile says nothing of the one that serves now.
      if (connection->is_dead()) connection.reset();
    }
  }
  if (!connection) {
    auto opened = FleetConnection::open(state_);
    if (!opened) return opened;
    connection = std::move(*opened);
  }
  return connection;
}

void SimulatedDriver::give_back(std::unique_ptr<FleetConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (!closing_) idle_.push_back(std::move(connection));
}

// A call that the destructor can end.
DriverResult<json> SimulatedDriver::call_on(FleetConnection& connection, std::string_view fields) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return unreachable("the driver is closing");
    in_use_.insert(&connection);
  }
  auto answer = connection.call(fields);
  const std::lock_guard lock(mutex_);
  in_use_.erase(&connection);
  returned_.notify_all();
  return answer;
}

DriverResult<json> SimulatedDriver::call(std::string_view fields) {
  auto connection = take_connection();
  if (!connection) return tl::unexpected(connection.error());
  auto answer = call_on(**connection, fields);
  if (answer || answer.error().code != DriverCode::kUnreachable) give_back(std::move(*connection));
  return answer;
}

DriverResult<FleetDescription> SimulatedDriver::claim(const std::string& owner) {
  const std::lock_guard claim_lock(claim_mutex_);
  if (!claim_ || claim_->is_dead()) {
    auto opened = FleetConnection::open(state_);
    if (!opened) return tl::unexpected(opened.error());
    claim_ = std::move(*opened);
  }
  std::string fields = "\"op\":\"claim\",\"owner\":";
  write_json_text(owner, fields);
  const auto answer = call_on(*claim_, fields);
  if (!answer) {
    claim_.reset();
    return tl::unexpected(answer.error());
  }
  owner_ = owner;
  const std::lock_guard lock(mutex_);
  epoch_ = answer->value("epoch", std::uint64_t{0});
  return interpret(*answer, to_description);
}

// The claim is a connection's; where that has broken, the same claim on another one.
DriverResult<void> SimulatedDriver::keep_claim() {
  const std::lock_guard claim_lock(claim_mutex_);
  if (epoch_ == 0 || (claim_ && !claim_->is_dead())) return {};
  claim_.reset();
  auto opened = FleetConnection::open(state_);
  if (!opened) return tl::unexpected(opened.error());
  std::string fields = fmt::format("\"op\":\"claim\",\"resume\":{},\"owner\":", epoch_);
  write_json_text(owner_, fields);
  const auto answer = call_on(**opened, fields);
  if (!answer) {
    const bool taken = answer.error().code == DriverCode::kInUse;
    return tl::unexpected(
        DriverError{taken ? DriverCode::kSuperseded : answer.error().code, answer.error().message});
  }
  claim_ = std::move(*opened);
  return {};
}

DriverResult<void> SimulatedDriver::order(const FleetChange& change, std::string* slice) {
  if (auto kept = keep_claim(); !kept) return kept;
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  std::string fields = fmt::format("\"epoch\":{},", epoch);
  write_change(change, fields);
  const auto answer = call(fields);
  if (!answer) return tl::unexpected(answer.error());
  if (slice != nullptr) *slice = answer->value("slice", "");
  return {};
}

DriverResult<FleetDescription> SimulatedDriver::describe() {
  const auto answer = call("\"op\":\"describe\"");
  if (!answer) return tl::unexpected(answer.error());
  return interpret(*answer, to_description);
}

DriverResult<GpuReading> SimulatedDriver::read(GpuIndex gpu) {
  const auto answer = call(fmt::format("\"op\":\"read\",\"gpu\":{}", gpu));
  if (!answer) return tl::unexpected(answer.error());
  return interpret(*answer, to_reading);
}

DriverResult<std::vector<GpuReading>> SimulatedDriver::read_all(GpuIndex count) {
  const auto answer = call("\"op\":\"read-all\"");
  if (!answer) return tl::unexpected(answer.error());
  auto readings = interpret(*answer, [](const json& list) {
    std::vector<GpuReading> all;
    all.reserve(list.size());
    for (const json& item : list) all.push_back(to_reading(item));
    return all;
  });
  if (readings && readings->size() != count)
    return tl::unexpected(
        DriverError{DriverCode::kNotFound,
                    fmt::format("the fleet has {} GPUs, expected {}", readings->size(), count)});
  return readings;
}

DriverResult<std::string> SimulatedDriver::create(GpuIndex gpu, int slot, TimeUs at_us) {
  std::string uuid;
  auto done = order({.kind = Kind::kCreate, .gpu = gpu, .slot = slot, .at_us = at_us}, &uuid);
  if (!done) return tl::unexpected(done.error());
  return uuid;
}

DriverResult<void> SimulatedDriver::destroy(GpuIndex gpu, const std::string& uuid, TimeUs at_us) {
  return order({.kind = Kind::kDestroy, .gpu = gpu, .uuid = uuid, .at_us = at_us});
}

DriverResult<void> SimulatedDriver::start(GpuIndex gpu, const RunOrder& run, TimeUs at_us) {
  return order({.kind = Kind::kStart, .gpu = gpu, .at_us = at_us, .order = run});
}

DriverResult<void> SimulatedDriver::stop(GpuIndex gpu, const std::string& run, TimeUs at_us) {
  FleetChange change{.kind = Kind::kStop, .gpu = gpu, .at_us = at_us};
  change.order.run = run;
  return order(change);
}

DriverResult<void> SimulatedDriver::kill(GpuIndex gpu, const std::string& run, TimeUs at_us) {
  FleetChange change{.kind = Kind::kKill, .gpu = gpu, .at_us = at_us};
  change.order.run = run;
  return order(change);
}

DriverResult<std::vector<FleetEvent>> SimulatedDriver::events_after(std::uint64_t number,
                                                                    int wait_ms) {
  // A controller that only listens notices too that another has taken its fleet.
  if (auto kept = keep_claim(); !kept) return tl::unexpected(kept.error());
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  const auto answer = call(fmt::format("\"op\":\"events\",\"epoch\":{},\"after\":{},\"wait_ms\":{}",
                                       epoch, number, wait_ms));
  if (!answer) return tl::unexpected(answer.error());
  return interpret(*answer, [](const json& list) {
    std::vector<FleetEvent> events;
    for (const json& item : list) events.push_back(load_event(item));
    return events;
  });
}

}  // namespace smartmig
