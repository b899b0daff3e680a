// Alibaba's openb pod list (cluster-trace-gpu-v2023):
// name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,
// pod_phase,creation_time,deletion_time,scheduled_time. Times are seconds on a clock without a
// date. memory_mib is the host's memory, so the GPU memory of a pod is not known.
#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "workload/decimal.h"
#include "workload/trace.h"

namespace smartmig {
namespace {

struct PodColumns {
  std::size_t name, num_gpu, gpu_milli, creation, deletion, scheduled;
  std::optional<std::size_t> qos, phase;
};

Result<PodColumns> find_pod_columns(const CsvReader& csv) {
  PodColumns columns{};
  const std::pair<std::string_view, std::size_t PodColumns::*> required[] = {
      {"name", &PodColumns::name},
      {"num_gpu", &PodColumns::num_gpu},
      {"gpu_milli", &PodColumns::gpu_milli},
      {"creation_time", &PodColumns::creation},
      {"deletion_time", &PodColumns::deletion},
      {"scheduled_time", &PodColumns::scheduled}};
  for (const auto& [name, member] : required) {
    const auto at = csv.require(name);
    if (!at) return pass_on(at);
    columns.*member = *at;
  }
  columns.qos = csv.find("qos");
  columns.phase = csv.find("pod_phase");
  return columns;
}

// The reason to drop the row; nothing keeps it.
Result<Dropped> read_row(const CsvReader& csv, const PodColumns& columns, TraceJob& job,
                         TimeUs& end_us) {
  const auto bad = [&](std::size_t column, std::string_view expected) {
    return tl::unexpected<Error>(csv.bad_field(column, expected));
  };
  constexpr std::string_view kSeconds = "seconds from 0 to 1e10";
  job.id = csv.field(columns.name);
  if (job.id.empty()) return bad(columns.name, "a name");
  const auto submit = parse_seconds(csv.field(columns.creation));
  if (!submit) return bad(columns.creation, kSeconds);
  job.submit_us = *submit;
  if (columns.qos) job.label = csv.field(*columns.qos);
  if (columns.phase) job.label.append(":").append(csv.field(*columns.phase));

  const auto gpus = csv.number(columns.num_gpu, 0, kMaxGpusOfJob);
  if (!gpus) return pass_on(gpus);
  if (*gpus != std::floor(*gpus)) return bad(columns.num_gpu, "a whole number");
  const auto milli = csv.number(columns.gpu_milli, 0, 1000);
  if (!milli) return pass_on(milli);
  if (*milli < 1000 && *gpus > 1) return bad(columns.gpu_milli, "1000, as num_gpu is over 1");
  job.gpu_count = static_cast<std::int32_t>(*gpus);
  job.gpu_fraction = job.asked_fraction = *milli / 1000;
  if (*gpus == 0 || *milli == 0) return LossReason::kNoGpu;

  if (csv.field(columns.scheduled).empty()) return LossReason::kNeverScheduled;
  const auto start = parse_seconds(csv.field(columns.scheduled));
  if (!start) return bad(columns.scheduled, kSeconds);
  if (csv.field(columns.deletion).empty()) return LossReason::kNotFinished;
  const auto end = parse_seconds(csv.field(columns.deletion));
  if (!end) return bad(columns.deletion, kSeconds);
  end_us = *end;
  job.duration_us = *end - *start;
  if (*start >= job.submit_us) job.start_us = *start;
  if (job.duration_us <= 0) return LossReason::kNoRunTime;
  return Dropped();
}

}  // namespace

Result<Trace> parse_trace_openb(std::string_view text, const std::string& name) {
  auto csv = CsvReader::open(text, name);
  if (!csv) return pass_on(csv);
  const auto columns = find_pod_columns(*csv);
  if (!columns) return pass_on(columns);
  Trace trace;
  trace.report.format = "openb";
  std::vector<TimeUs> ends;
  while (csv->next()) {
    ++trace.report.rows_read;
    TraceJob job;
    TimeUs end_us = 0;
    const auto reason = read_row(*csv, *columns, job, end_us);
    if (!reason) return pass_on(reason);
    if (!*reason) {
      trace.jobs.push_back(std::move(job));
      ends.push_back(end_us);
    } else {
      trace.report.drop(**reason, job);
    }
  }
  if (csv->error()) return tl::unexpected<Error>(*csv->error());
  // The trace ends at its latest deletion; a pod that still ran then ran longer than it shows.
  const TimeUs last = ends.empty() ? 0 : *std::ranges::max_element(ends);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    TraceJob& job = trace.jobs[i];
    if (ends[i] == last && job.label.ends_with(":Running")) job.label += ":censored";
  }
  trace.report.real = {"submit times", "run times (scheduled to deleted)", "GPUs asked for"};
  trace.report.notes = {
      "the source's hour of day is not known; hours count from its first second",
      "openb's cards are not MIG boards; memory_mib is the host's, not the GPU's"};
  return finish_trace(std::move(trace), name);
}

}  // namespace smartmig
