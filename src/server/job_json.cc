#include "server/job_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

using nlohmann::json;

// How far into the queue times are asked for.
constexpr std::size_t kMostExpected = 10'000;
// Above so many GPUs one copy of the fleet is cheaper than asking for each.
constexpr std::size_t kFewGpus = 16;

void add_running(const GpuView& gpu, JobOutlooks& out) {
  for (const SliceView& slice : gpu.slices)
    if (slice.job != 0)
      out[slice.job] = {slice.since_us, slice.expected_end_us, static_cast<int>(gpu.index),
                        slice.profile};
}

bool holds_a_slice(const JobRow& row) {
  return !is_final(row.phase) && row.phase != JobPhase::kQueued;
}

// What was asked for, as it was normalised: a text, a number or null.
void write_asked(JsonWriter& out, const json& asked, const char* name) {
  const auto at = asked.find(name);
  if (at == asked.end() || at->is_null()) return out.null(name);
  if (at->is_string()) return out.field(name, at->get_ref<const std::string&>());
  if (at->is_boolean()) return out.field(name, at->get<bool>());
  if (at->is_number_integer()) return out.field(name, at->get<std::int64_t>());
  if (at->is_number()) return out.field(name, at->get<double>());
  out.null(name);
}

void write_command(JsonWriter& out, const json& asked) {
  const auto at = asked.find("command");
  out.begin_array("command");
  if (at != asked.end() && at->is_array())
    for (const json& word : *at)
      if (word.is_string()) out.value(word.get_ref<const std::string&>());
  out.end_array();
}

// When it ended or will, over its deadline; null where that is not known.
void write_lateness(JsonWriter& out, const JobRow& row, const JobOutlook& outlook) {
  const TimeUs end = is_final(row.phase) ? row.end_us : outlook.end_us;
  if (end < 0) return out.null("late_s");
  out.seconds("late_s", std::max<TimeUs>(0, end - row.deadline_us));
}

}  // namespace

JobOutlooks outlooks(const Backend& backend, std::span<const JobRow> rows) {
  JobOutlooks out;
  std::vector<std::string> gpus;
  bool queued = false;
  for (const JobRow& row : rows) {
    queued = queued || row.phase == JobPhase::kQueued;
    if (holds_a_slice(row) && !row.gpu.empty()) gpus.push_back(row.gpu);
  }
  if (queued)
    for (const auto& expected : backend.expectations(kMostExpected))
      out[expected.job] = {expected.start_us, expected.end_us, -1, {}};
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  if (gpus.size() > kFewGpus) {
    const auto fleet = backend.look();
    for (const GpuView& gpu : fleet->gpus) add_running(gpu, out);
  } else {
    for (const std::string& uuid : gpus)
      if (const auto gpu = backend.gpu(uuid)) add_running(*gpu, out);
  }
  return out;
}

void write_job_fields(JsonWriter& out, const JobRow& row, const JobOutlooks& outlooks) {
  const json asked = json::parse(row.body, nullptr, false);
  const auto found = outlooks.find(row.number);
  const JobOutlook outlook =
      found != outlooks.end() && !is_final(row.phase) ? found->second : JobOutlook{};
  out.id("id", row.number);
  out.field("state", to_string(row.phase));
  for (const char* name : {"name", "profile", "work_s", "memory_mib", "preemptible", "checkpoint_s",
                           "restore_s", "max_runtime_s"})
    write_asked(out, asked, name);
  out.text_or_null("key", row.key);
  out.field("owner", row.owner);
  out.time("submit_s", row.submit_us);
  out.seconds("deadline_s", row.deadline_us);
  out.time("start_s", row.start_us);
  out.time("end_s", row.end_us);
  out.time("expected_start_s", outlook.start_us);
  out.time("expected_end_s", outlook.end_us);
  write_lateness(out, row, outlook);
  out.text_or_null("gpu", row.gpu);
  if (outlook.gpu_index >= 0)
    out.field("gpu_index", outlook.gpu_index);
  else
    out.null("gpu_index");
  out.text_or_null("slice", row.slice);
  out.text_or_null("slice_profile", outlook.slice_profile);
  out.field("left", row.left);
  out.field("attempts", row.attempt);
  out.seconds("lost_s", row.lost_us);
  out.field("note", row.note);
  write_command(out, asked);
}

void write_job(JsonWriter& out, const JobRow& row, const JobOutlooks& outlooks) {
  out.begin_object();
  write_job_fields(out, row, outlooks);
  out.end_object();
}

}  // namespace smartmig
