// The fleet as it is, as it would become, and as others read it.
#include <algorithm>

#include "base/text.h"
#include "mig/board.h"
#include "mig/layout.h"
#include "server/answers.h"
#include "server/export_yaml.h"
#include "server/fleet_groups.h"
#include "server/fleet_json.h"
#include "server/gpu_filter.h"
#include "server/metrics_page.h"
#include "server/query.h"

namespace smartmig {
namespace {

// Those that the filter takes, and `next`: the index where the next page begins, null at the end.
void write_gpu_page(JsonWriter& json, const FleetView& fleet, const GpuFilter& filter) {
  json.begin_array("gpus");
  std::size_t shown = 0, at = filter.from;
  for (; at < fleet.gpus.size(); ++at) {
    if (!filter.takes(fleet.gpus[at])) continue;
    if (filter.limit > 0 && shown == filter.limit) break;
    write_gpu(json, fleet.gpus[at]);
    ++shown;
  }
  json.end_array();
  if (at < fleet.gpus.size())
    json.field("next", static_cast<std::int64_t>(at));
  else
    json.null("next");
}

}  // namespace

RouteAnswer show_fleet(Site& site, const Call& call) {
  Query query(call.request.query, {"gpus", "from", "limit", "state", "layout", "find", "held"});
  const bool with_gpus = query.flag("gpus", true);
  const GpuFilter filter = GpuFilter::read(query);
  if (query.refusal()) return *query.refusal();
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object();
  if (with_gpus) {
    const auto fleet = site.backend.look();
    constexpr std::size_t kBytesOfGpu = 2048;  // More than that of seven slices, to save copying.
    const std::size_t most = fleet->gpus.size();
    response.body.reserve(1024 +
                          (filter.limit > 0 ? std::min(filter.limit, most) : most) * kBytesOfGpu);
    write_fleet_fields(json, *fleet);
    write_gpu_page(json, *fleet, filter);
  } else {
    write_fleet_fields(json, site.backend.summary());
  }
  json.end_object();
  response.body += '\n';
  return response;
}

RouteAnswer show_groups(Site& site, const Call& call) {
  Query query(call.request.query, {"size"});
  const auto size = static_cast<std::size_t>(query.integer("size", 1, 10'000, 100));
  if (query.refusal()) return *query.refusal();
  const auto fleet = site.backend.look();
  return json_response([&](JsonWriter& json) {
    json.time("now_s", fleet->now_us);
    json.field("gpus", static_cast<std::int64_t>(fleet->gpus.size()));
    json.begin_array("layouts");
    for (const LayoutCount& count : count_layouts(*fleet)) {
      json.begin_object();
      json.field("layout", count.layout);
      json.field("gpus", count.gpus);
      json.end_object();
    }
    json.end_array();
    json.begin_array("groups");
    for (const GpuGroup& group : group_gpus(*fleet, size)) write_group(json, group);
    json.end_array();
  });
}

RouteAnswer show_gpu(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  const auto gpu = site.backend.gpu(call.argument);
  if (!gpu) return not_found("GPU", in_quotes(call.argument));
  return json_response([&](JsonWriter& json) { write_gpu_fields(json, *gpu); });
}

RouteAnswer list_changes(Site& site, const Call& call) {
  Query query(call.request.query, {"before", "limit"});
  const auto before = query.integer("before", 0, INT64_MAX, 0);
  const auto limit = static_cast<int>(query.integer("limit", 1, 1000, 100));
  if (query.refusal()) return *query.refusal();
  const auto gpu = site.backend.gpu(call.argument);
  if (!gpu) return not_found("GPU", in_quotes(call.argument));
  const auto rows = site.backend.intents(gpu->uuid, before, limit + 1);
  if (!rows) return journal_refusal(rows.error());
  const auto board = BoardTable::shipped().find(gpu->board);
  const auto name = [&](SlotSet set) {
    return board ? layout_name(**board, set) : std::string("unknown");
  };
  const std::size_t shown = std::min(rows->size(), static_cast<std::size_t>(limit));
  return json_response([&](JsonWriter& json) {
    json.begin_array("changes");
    for (std::size_t i = 0; i < shown; ++i) {
      const IntentRow& row = (*rows)[i];
      json.begin_object();
      json.id("id", row.number);
      json.field("from", name(row.base));
      json.field("to", name(row.target));
      json.time("opened_s", row.opened_us);
      json.time("closed_s", row.closed_us);
      json.field("step", row.step);
      json.field("outcome", row.outcome);
      json.end_object();
    }
    json.end_array();
    json.id("next", shown < rows->size() ? (*rows)[shown - 1].number : 0);
  });
}

RouteAnswer explain_gpu(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  const auto lines = site.backend.explain_gpu(call.argument);
  if (!lines) return lines.error();
  return lines_response(*lines);
}

RouteAnswer show_plan(Site& site, const Call& call) {
  Query query(call.request.query, {"policy"});
  const std::string policy = query.text("policy");
  if (query.refusal()) return *query.refusal();
  // A policy's name may be that of a file on this machine, and a rehearsal costs what a decision
  // does.
  if (!policy.empty() && call.caller.role < Role::kOperate)
    return Refusal{403, "a plan by another policy needs the role operate", "policy"};
  const auto plan = site.backend.plan(policy);
  if (!plan) return plan.error();
  return json_response([&](JsonWriter& json) { write_plan_fields(json, *plan); });
}

RouteAnswer export_layouts(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  return HttpResponse{200, "application/yaml", export_yaml(*site.backend.look())};
}

RouteAnswer show_metrics(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8",
                      metrics_page(*site.backend.look(), site.backend.counters(),
                                   site.backend.why_not_ready().empty(), site.metrics_gpus)};
}

}  // namespace smartmig
