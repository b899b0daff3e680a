#include "server/fleet_json.h"

namespace smartmig {
namespace {

void write_slice(JsonWriter& json, const SliceView& slice) {
  json.begin_object();
  json.field("uuid", slice.uuid);
  json.field("profile", slice.profile);
  json.field("slot", static_cast<int>(slice.slot));
  json.field("start", static_cast<int>(slice.start));
  json.field("width", static_cast<int>(slice.width));
  json.field("compute", static_cast<int>(slice.compute));
  json.field("state", slice.state);
  json.id("job", slice.job);
  json.time("since_s", slice.job == 0 ? -1 : slice.since_us);
  json.time("expected_end_s", slice.job == 0 ? -1 : slice.expected_end_us);
  json.text_or_null("job_kind", slice.job_kind);
  json.time("deadline_s", slice.job == 0 ? -1 : slice.deadline_us);
  json.end_object();
}

void write_last_day(JsonWriter& json, const std::optional<DayVerdict>& day) {
  if (!day) return json.null("last_day");
  json.begin_object("last_day");
  json.field("et", day->other_et);
  json.field("own_et", day->own_et);
  json.field("done", day->other_done);
  json.field("own_done", day->own_done);
  json.field("modelled_is_better", day->other_is_better);
  json.end_object();
}

void write_modelled(JsonWriter& json, const std::optional<ModelledView>& modelled) {
  if (!modelled) return json.null("modelled");
  json.begin_object("modelled");
  json.field("policy", modelled->policy);
  json.field("energy_j", modelled->energy_j);
  json.field("own_energy_j", modelled->own_energy_j);
  json.field("done", modelled->done);
  json.field("own_done", modelled->own_done);
  json.field("late", modelled->late);
  json.field("own_late", modelled->own_late);
  json.field("tardiness_s", modelled->tardiness_s);
  json.field("own_tardiness_s", modelled->own_tardiness_s);
  write_last_day(json, modelled->last_day);
  json.end_object();
}

}  // namespace

void write_fleet_fields(JsonWriter& json, const FleetSummary& fleet) {
  json.time("now_s", fleet.now_us);
  json.field("fleet", fleet.fleet);
  json.field("policy", fleet.policy);
  json.field("driver", fleet.driver);
  json.field("speed", fleet.speed);
  json.field("frozen", fleet.frozen);
  json.field("recovered", fleet.recovered);
  json.field("trouble", fleet.trouble);
  json.field("events_received", fleet.events_received);
  json.field("power_w", fleet.power_w);
  json.field("power_cap_w", fleet.power_cap_w);
  json.field("energy_j", fleet.energy_j);
  json.field("queued", fleet.queued);
  json.field("running", fleet.running);
  json.field("late_queued", fleet.late_queued);
  write_modelled(json, fleet.modelled);
}

void write_gpu_fields(JsonWriter& json, const GpuView& gpu) {
  json.field("index", static_cast<std::int64_t>(gpu.index));
  json.field("uuid", gpu.uuid);
  json.field("board", gpu.board);
  json.field("memory_slices", gpu.memory_slices);
  json.field("layout", gpu.layout);
  json.field("target", gpu.target);
  json.field("state", gpu.state);
  json.field("trouble", gpu.trouble);
  json.time("retry_s", gpu.retry_us);
  json.field("held", gpu.held);
  json.text_or_null("held_by", gpu.held_by);
  json.time("held_since_s", gpu.held_us);
  json.field("power_w", gpu.power_w);
  json.field("changes", static_cast<std::int64_t>(gpu.changes));
  json.begin_array("slices");
  for (const SliceView& slice : gpu.slices) write_slice(json, slice);
  json.end_array();
}

void write_gpu(JsonWriter& json, const GpuView& gpu) {
  json.begin_object();
  write_gpu_fields(json, gpu);
  json.end_object();
}

void write_plan_fields(JsonWriter& json, const Plan& plan) {
  json.field("number", plan.number);
  json.time("at_s", plan.at_us);
  json.field("policy", plan.policy);
  json.begin_array("stops");
  for (const PlannedStop& stop : plan.stops) {
    json.begin_object();
    json.id("job", stop.job);
    json.field("gpu", stop.gpu);
    json.field("reason", stop.reason);
    json.end_object();
  }
  json.end_array();
  json.begin_array("changes");
  for (const PlannedChange& change : plan.changes) {
    json.begin_object();
    json.field("gpu", change.gpu);
    json.field("from", change.from);
    json.field("to", change.to);
    json.field("reason", change.reason);
    json.end_object();
  }
  json.end_array();
  json.begin_array("starts");
  for (const PlannedStart& start : plan.starts) {
    json.begin_object();
    json.id("job", start.job);
    json.field("gpu", start.gpu);
    json.field("profile", start.profile);
    json.field("slot", static_cast<int>(start.slot));
    json.field("reason", start.reason);
    json.end_object();
  }
  json.end_array();
}

}  // namespace smartmig
