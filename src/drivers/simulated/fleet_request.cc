#include "drivers/simulated/fleet_request.h"

#include <array>
#include <utility>
#include <vector>

#include "base/text.h"

namespace smartmig {
namespace {

using Call = FleetRequest::Call;

constexpr std::array<std::pair<std::string_view, Call>, 11> kCalls = {{
    {"describe", Call::kDescribe},
    {"claim", Call::kClaim},
    {"read", Call::kRead},
    {"read-all", Call::kReadAll},
    {"events", Call::kEvents},
    {"inject", Call::kInject},
    {"behave", Call::kBehave},
    {"clear", Call::kClear},
    {"list", Call::kList},
    {"audit", Call::kAudit},
    {"snapshot", Call::kSnapshot},
}};

constexpr double kMaxNumber = 9e15;  // Exact in a double.
constexpr int kMaxWaitMs = 600'000;

std::uint64_t count(const JsonFields& fields, std::string_view key) {
  return static_cast<std::uint64_t>(fields.number(key, 0, kMaxNumber, 0));
}

// Changes that a request may ask for; the others are the process's own.
bool may_be_asked(FleetChange::Kind kind) {
  return kind >= FleetChange::Kind::kCreate && kind != FleetChange::Kind::kAbandon;
}

std::vector<std::string> known_ops() {
  std::vector<std::string> names;
  for (const auto& [name, call] : kCalls) names.emplace_back(name);
  for (auto kind = FleetChange::Kind::kTime; kind <= FleetChange::Kind::kForeignStop;
       kind = static_cast<FleetChange::Kind>(static_cast<int>(kind) + 1)) {
    if (may_be_asked(kind)) names.emplace_back(to_string(kind));
  }
  return names;
}

void read_op(const JsonFields& fields, FleetRequest& request) {
  if (const auto kind = fleet_change_kind(request.op); kind && may_be_asked(*kind)) {
    request.call = Call::kChange;
    request.change = read_change(*kind, fields);
    return;
  }
  for (const auto& [name, call] : kCalls) {
    if (name != request.op) continue;
    request.call = call;
    return;
  }
  fields.report("op", "found " + in_quotes(request.op) + suggestion(request.op, known_ops()));
}

void read_arguments(const JsonFields& fields, FleetRequest& request) {
  switch (request.call) {
    case Call::kClaim:
      request.owner = fields.text("owner");
      request.resume = count(fields, "resume");
      break;
    case Call::kRead:
      request.change.gpu = static_cast<GpuIndex>(fields.number("gpu", 0, 4e6));
      break;
    case Call::kEvents:
      request.after = count(fields, "after");
      request.wait_ms = fields.has("wait_ms") ? fields.integer("wait_ms", 0, kMaxWaitMs) : 0;
      break;
    case Call::kInject:
      request.fault = read_fault(fields);
      break;
    case Call::kBehave:
      request.rule = read_rule(fields);
      break;
    case Call::kClear:
      if (fields.has("fault"))
        request.clear_fault = static_cast<std::int64_t>(fields.number("fault", 1, kMaxNumber));
      if (fields.has("behaviour"))
        request.clear_rule = static_cast<std::int64_t>(fields.number("behaviour", 1, kMaxNumber));
      break;
    case Call::kAudit:
      request.after = count(fields, "after");
      request.limit = fields.has("limit") ? fields.integer("limit", 1, 100'000) : 10'000;
      break;
    default:
      break;
  }
}

}  // namespace

Result<FleetRequest> parse_request(std::string_view line) {
  JsonDocument document("request");
  if (!document.parse(line)) return tl::unexpected(*document.error());
  const JsonFields fields = document.root();
  FleetRequest request;
  request.op = fields.text("op");
  request.id = static_cast<std::int64_t>(fields.number("id", 0, kMaxNumber, 0));
  request.epoch = count(fields, "epoch");
  if (!document.error()) read_op(fields, request);
  if (!document.error()) read_arguments(fields, request);
  if (document.error()) return tl::unexpected(*document.error());
  return request;
}

std::string_view strikable_name(const FleetRequest& request) {
  switch (request.call) {
    case Call::kChange:
      return is_order(request.change.kind) ? to_string(request.change.kind) : std::string_view();
    case Call::kRead:
    case Call::kReadAll:
      return "read";
    case Call::kClaim:
      return "claim";
    case Call::kEvents:
      return "events";
    default:
      return {};
  }
}

}  // namespace smartmig
