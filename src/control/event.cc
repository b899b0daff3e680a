#include "control/event.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 19> kEventNames = {
    "begin",     "submit",      "ended", "gone",   "saved", "lost",   "saving",
    "step-done", "step-failed", "read",  "close",  "open",  "layout", "freeze",
    "unfreeze",  "limits",      "hold",  "unhold", "round"};

json to_json(const Job& job) {
  json body = {{"submit_us", job.submit_us},
               {"deadline_us", job.deadline_us},
               {"time_us", job.time_us},
               {"memory_mib", job.memory_mib},
               {"checkpoint_ms", job.checkpoint_ms},
               {"restore_ms", job.restore_ms},
               {"training", job.kind == JobKind::kTraining},
               {"preemptible", static_cast<int>(job.preemptible)}};
  if (job.profile != kNoProfile)
    body["profile"] = Catalogue::shipped().profiles()[job.profile].name;
  return body;
}

// Reads what we wrote ourselves: a field that is not there or of another type throws.
Job job_of(const json& body) {
  Job job;
  job.submit_us = body.at("submit_us");
  job.deadline_us = body.at("deadline_us");
  job.time_us = body.at("time_us").get<std::array<TimeUs, kSizeCount>>();
  job.memory_mib = body.at("memory_mib");
  job.checkpoint_ms = body.at("checkpoint_ms");
  job.restore_ms = body.at("restore_ms");
  job.kind = body.at("training").get<bool>() ? JobKind::kTraining : JobKind::kInference;
  const int preemptible = body.at("preemptible");
  job.preemptible = static_cast<Preemptible>(std::clamp(preemptible, 0, 2));
  if (body.contains("profile"))
    job.profile =
        Catalogue::shipped().find(body.at("profile").get<std::string>()).value_or(kNoProfile);
  return job;
}

json to_json(const Limits& limits) {
  return {{"changes_per_gpu_hour", limits.changes_per_gpu_hour},
          {"power_cap_w", limits.power_cap_w}};
}

Limits limits_of(const json& body) {
  return {body.at("changes_per_gpu_hour"), body.at("power_cap_w")};
}

json to_json(const Setup& setup) {
  return {{"fleet", setup.fleet},
          {"policy", setup.policy},
          {"costs", setup.costs},
          {"preemption", setup.preemption},
          {"energy_weight", setup.energy_weight},
          {"seed", setup.seed},
          {"limits", to_json(setup.limits)}};
}

Setup setup_of(const json& body) {
  Setup setup;
  setup.fleet = body.at("fleet");
  setup.policy = body.at("policy");
  setup.costs = body.at("costs");
  setup.preemption = body.at("preemption");
  setup.energy_weight = body.at("energy_weight");
  setup.seed = body.at("seed");
  setup.limits = limits_of(body.at("limits"));
  return setup;
}

json to_json(const Snapshot::GpuStand& gpu) {
  json body = {gpu.present, gpu.foreign, gpu.target, gpu.closed, gpu.fresh};
  if (gpu.changes_us.empty() && !gpu.step && gpu.ordered && !gpu.held) return body;
  body.push_back(gpu.changes_us);
  body.push_back(gpu.ordered);
  if (const auto& step = gpu.step)
    body.push_back({step->slot, step->create, step->end_us, step->base, step->made});
  if (gpu.held) body.push_back(true);
  return body;
}

Snapshot::GpuStand gpu_of(const json& body) {
  Snapshot::GpuStand gpu{body.at(0), body.at(1), body.at(2), body.at(3), body.at(4)};
  // Journals of earlier programs have another account of changes, or none.
  if (body.size() > 5 && body[5].is_array()) gpu.changes_us = body[5].get<std::vector<TimeUs>>();
  // Journals of earlier programs do not say whether it was ordered.
  std::size_t at = 6;
  if (body.size() > at && body[at].is_boolean()) gpu.ordered = body[at++];
  if (body.size() > at && body[at].is_array()) {
    const json& step = body[at++];
    gpu.step = {step.at(0), step.at(1), step.at(2), step.at(3), step.at(4)};
  }
  if (body.size() > at) gpu.held = body[at];
  return gpu;
}

json to_json(const Snapshot& snapshot) {
  json jobs = json::array();
  for (const auto& queued : snapshot.jobs) {
    json job = to_json(queued.job);
    job["number"] = queued.number;
    job["left"] = queued.left;
    jobs.push_back(std::move(job));
  }
  json gpus = json::array();
  for (const auto& gpu : snapshot.gpus) gpus.push_back(to_json(gpu));
  json runs = json::array();
  for (const auto& run : snapshot.runs)
    runs.push_back({run.number, run.gpu, run.slot, run.begin_us, run.end_us, run.saving});
  json waits = json::array();
  for (const auto& wait : snapshot.waits) waits.push_back({wait.number, wait.gpu, wait.slot});
  return {{"setup", to_json(snapshot.setup)}, {"version", snapshot.version},
          {"frozen", snapshot.frozen},        {"goes_on", snapshot.goes_on},
          {"jobs", std::move(jobs)},          {"gpus", std::move(gpus)},
          {"runs", std::move(runs)},          {"waits", std::move(waits)}};
}

Snapshot snapshot_of(const json& body) {
  Snapshot snapshot;
  snapshot.setup = setup_of(body.at("setup"));
  snapshot.version = body.at("version");
  snapshot.frozen = body.at("frozen");
  snapshot.goes_on = body.at("goes_on");
  for (const json& job : body.at("jobs"))
    snapshot.jobs.push_back({job.at("number"), job_of(job), job.at("left")});
  for (const json& gpu : body.at("gpus")) snapshot.gpus.push_back(gpu_of(gpu));
  for (const json& run : body.at("runs"))
    snapshot.runs.push_back({run.at(0), run.at(1), run.at(2), run.at(3), run.at(4), run.at(5)});
  for (const json& wait : body.at("waits"))
    snapshot.waits.push_back({wait.at(0), wait.at(1), wait.at(2)});
  return snapshot;
}

using EventKind = Event::Kind;

bool is_about_a_job(EventKind kind) {
  return kind == EventKind::kSubmit || kind == EventKind::kEnded || kind == EventKind::kGone ||
         kind == EventKind::kSaved || kind == EventKind::kLost || kind == EventKind::kSaving;
}

bool is_about_a_gpu(EventKind kind) {
  return kind == EventKind::kStepDone || kind == EventKind::kStepFailed ||
         kind == EventKind::kRead || kind == EventKind::kClose || kind == EventKind::kOpen ||
         kind == EventKind::kLayout || kind == EventKind::kHold || kind == EventKind::kUnhold;
}

}  // namespace

std::string_view to_string(EventKind kind) { return kEventNames[static_cast<std::size_t>(kind)]; }

EventRow to_row(const Event& event) {
  json body = json::object();
  if (is_about_a_job(event.kind)) body["job"] = event.job;
  if (is_about_a_gpu(event.kind)) body["gpu"] = event.gpu;
  switch (event.kind) {
    case EventKind::kBegin:
      body = to_json(event.snapshot);
      break;
    case EventKind::kSubmit:
      body["work"] = to_json(event.work);
      break;
    case EventKind::kSaved:
      body["left"] = event.left;
      break;
    case EventKind::kRead:
      body["gone"] = event.gone;
      body["foreign"] = event.foreign;
      [[fallthrough]];
    case EventKind::kLayout:
      body["slots"] = event.slots;
      break;
    case EventKind::kLimits:
      body = to_json(event.limits);
      break;
    default:
      break;
  }
  return {0, event.at_us, std::string(to_string(event.kind)), body.dump()};
}

Result<Event> parse_event(const EventRow& row) {
  Event event;
  const auto found = std::find(kEventNames.begin(), kEventNames.end(), row.kind);
  if (found == kEventNames.end())
    return fail("event {}: kind '{}' is not known", row.number, row.kind);
  event.kind = static_cast<EventKind>(found - kEventNames.begin());
  event.at_us = row.at_us;
  const json body = parse_json(row.body);
  if (!body.is_object()) return fail("event {}: its body is no JSON object", row.number);
  try {
    if (is_about_a_job(event.kind)) event.job = body.at("job");
    if (is_about_a_gpu(event.kind)) event.gpu = body.at("gpu");
    if (event.kind == EventKind::kBegin) event.snapshot = snapshot_of(body);
    if (event.kind == EventKind::kSubmit) event.work = job_of(body.at("work"));
    if (event.kind == EventKind::kSaved) event.left = body.at("left");
    if (event.kind == EventKind::kRead || event.kind == EventKind::kLayout)
      event.slots = body.at("slots");
    if (event.kind == EventKind::kRead) {
      event.gone = body.at("gone");
      event.foreign = body.at("foreign");
    }
    if (event.kind == EventKind::kLimits) event.limits = limits_of(body);
  } catch (const json::exception& error) {
    return fail("event {} ({}): {}", row.number, row.kind, error.what());
  }
  return event;
}

}  // namespace smartmig
