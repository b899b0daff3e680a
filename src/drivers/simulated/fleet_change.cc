#include "drivers/simulated/fleet_change.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

using Kind = FleetChange::Kind;

constexpr std::array<std::string_view, 16> kChangeNames = {
    "time",           "speed",           "claim",       "create",
    "destroy",        "start",           "stop",        "kill",
    "abandon",        "reboot",          "lose",        "return",
    "foreign-create", "foreign-destroy", "foreign-run", "foreign-stop"};

constexpr double kMaxGpu = 4e6;

// To the microsecond for 280 years; what is read is what is written afterwards, so that doing it
// again gives the same.
TimeUs time_us(const JsonFields& fields, std::string_view key) {
  return static_cast<TimeUs>(fields.number(key, 0, static_cast<double>(kLastFleetUs)));
}

TimeUs time_or_0(const JsonFields& fields, std::string_view key) {
  return fields.has(key) ? time_us(fields, key) : 0;
}

RunOrder read_order(const JsonFields& fields) {
  RunOrder order;
  order.run = fields.text("run");
  order.slice_uuid = fields.text("slice");
  order.full_us = time_us(fields, "full_us");
  order.left = fields.number("left", 0, 1, 1);
  order.restore_us = time_or_0(fields, "restore_us");
  order.checkpoint_us = time_or_0(fields, "checkpoint_us");
  order.watts = fields.number("watts", 0, 1e6, 0);
  return order;
}

void write_order(const RunOrder& order, std::string& out) {
  out += ",\"run\":";
  write_json_text(order.run, out);
  out += ",\"slice\":";
  write_json_text(order.slice_uuid, out);
  fmt::format_to(std::back_inserter(out),
                 ",\"full_us\":{},\"left\":{},\"restore_us\":{},\"checkpoint_us\":{},\"watts\":{}",
                 order.full_us, order.left, order.restore_us, order.checkpoint_us, order.watts);
}

bool has_slot(Kind kind) { return kind == Kind::kCreate || kind == Kind::kForeignCreate; }
bool has_uuid(Kind kind) {
  return kind == Kind::kDestroy || (kind >= Kind::kForeignDestroy && kind <= Kind::kForeignStop);
}
bool has_gpu(Kind kind) { return kind >= Kind::kCreate; }
bool may_be_all(Kind kind) { return kind == Kind::kReboot || kind == Kind::kAbandon; }

}  // namespace

std::string_view to_string(Kind kind) { return kChangeNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> fleet_change_kind(std::string_view name) {
  for (std::size_t i = 0; i < kChangeNames.size(); ++i) {
    if (kChangeNames[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

void write_json_text(std::string_view text, std::string& out) {
  constexpr std::string_view kHarmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:/ ,'()";
  if (text.find_first_not_of(kHarmless) == std::string_view::npos) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RunBehaviour read_behaviour(const JsonFields& fields) {
  RunBehaviour behaviour;
  behaviour.fail_at = fields.number("fail_at", -1, 1, -1);
  behaviour.overrun = fields.number("overrun", 0.001, 1000, 1);
  const double seconds = fields.number("ignore_stop_s", -1, 1e9, 0);
  behaviour.ignore_stop_us = seconds < 0 ? kNever : to_us(seconds);
  behaviour.ignore_kill = fields.boolean("ignore_kill", false);
  return behaviour;
}

void write_behaviour(const RunBehaviour& behaviour, std::string& out) {
  const double seconds = behaviour.ignore_stop_us == kNever ? -1 : to_s(behaviour.ignore_stop_us);
  fmt::format_to(std::back_inserter(out),
                 "\"fail_at\":{},\"overrun\":{},\"ignore_stop_s\":{},\"ignore_kill\":{}",
                 behaviour.fail_at, behaviour.overrun, seconds, behaviour.ignore_kill);
}

void write_change(const FleetChange& change, std::string& out) {
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "\"op\":\"{}\"", to_string(change.kind));
  if (has_gpu(change.kind) && change.gpu != kNone) fmt::format_to(put, ",\"gpu\":{}", change.gpu);
  if (has_slot(change.kind)) fmt::format_to(put, ",\"slot\":{}", change.slot);
  if (has_uuid(change.kind)) {
    out += ",\"slice\":";
    write_json_text(change.uuid, out);
  }
  if (is_order(change.kind)) fmt::format_to(put, ",\"at_us\":{}", change.at_us);
  if (change.kind == Kind::kStart) {
    write_order(change.order, out);
    if (!(change.behaviour == RunBehaviour{})) {
      out += ',';
      write_behaviour(change.behaviour, out);
    }
  }
  if (change.kind == Kind::kStop || change.kind == Kind::kKill) {
    out += ",\"run\":";
    write_json_text(change.order.run, out);
  }
  if (change.kind == Kind::kSpeed) fmt::format_to(put, ",\"speed\":{}", change.speed);
}

FleetChange read_change(Kind kind, const JsonFields& fields) {
  FleetChange change;
  change.kind = kind;
  if (has_gpu(kind)) {
    change.gpu = may_be_all(kind) && !fields.has("gpu")
                     ? kNone
                     : static_cast<GpuIndex>(fields.number("gpu", 0, kMaxGpu));
  }
  if (has_slot(kind)) change.slot = fields.integer("slot", 0, 63);
  if (has_uuid(kind)) change.uuid = fields.text("slice");
  if (is_order(kind)) change.at_us = time_us(fields, "at_us");
  if (kind == Kind::kStart) {
    change.order = read_order(fields);
    change.behaviour = read_behaviour(fields);
  }
  if (kind == Kind::kStop || kind == Kind::kKill) change.order.run = fields.text("run");
  if (kind == Kind::kSpeed) change.speed = fields.number("speed", 1e-3, 1e6);
  return change;
}

}  // namespace smartmig
