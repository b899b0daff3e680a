// Traces in the common schema: job_id,submit_s,duration_s,gpu_fraction,gpu_count and, optional,
// kind,source_class.
#include <cmath>

#include "base/csv.h"
#include "workload/decimal.h"
#include "workload/trace.h"

namespace smartmig {
namespace {

struct TraceColumns {
  std::size_t id, submit, duration, fraction, count;
  std::optional<std::size_t> kind, label;
};

Result<TraceColumns> find_trace_columns(const CsvReader& csv) {
  TraceColumns columns{};
  const std::pair<std::string_view, std::size_t TraceColumns::*> required[] = {
      {"job_id", &TraceColumns::id},
      {"submit_s", &TraceColumns::submit},
      {"duration_s", &TraceColumns::duration},
      {"gpu_fraction", &TraceColumns::fraction},
      {"gpu_count", &TraceColumns::count}};
  for (const auto& [name, member] : required) {
    const auto at = csv.require(name);
    if (!at) return pass_on(at);
    columns.*member = *at;
  }
  columns.kind = csv.find("kind");
  columns.label = csv.find("source_class");
  return columns;
}

// The reason to drop the row, "" to keep it.
Result<std::string_view> read_row(const CsvReader& csv, const TraceColumns& columns,
                                  TraceJob& job) {
  const auto bad = [&](std::size_t column, std::string_view expected) {
    return tl::unexpected<Error>(csv.bad_field(column, expected));
  };
  job.id = csv.field(columns.id);
  if (job.id.empty()) return bad(columns.id, "a name");
  const auto submit = parse_seconds(csv.field(columns.submit));
  if (!submit) return bad(columns.submit, "seconds from 0 to 1e10");
  job.submit_us = *submit;
  if (columns.kind) {
    const std::string_view kind = csv.field(*columns.kind);
    if (kind == "training")
      job.kind = TraceKind::kTraining;
    else if (kind == "inference")
      job.kind = TraceKind::kInference;
    else if (kind != "unknown" && !kind.empty())
      return bad(*columns.kind, "training, inference or unknown");
  }
  if (columns.label) job.label = csv.field(*columns.label);

  const auto count = csv.number(columns.count, 0, kMaxGpusOfJob);
  if (!count) return pass_on(count);
  if (*count != std::floor(*count)) return bad(columns.count, "a whole number");
  const auto fraction = csv.number(columns.fraction, 0, 1);
  if (!fraction) return pass_on(fraction);
  if (*fraction < 1 && *count > 1) return bad(columns.fraction, "1, as gpu_count is over 1");
  job.gpu_count = static_cast<std::int32_t>(*count);
  job.gpu_fraction = *fraction;

  if (csv.field(columns.duration).empty()) return "no run time";
  const auto duration = parse_seconds(csv.field(columns.duration));
  if (!duration) return bad(columns.duration, "seconds from 0 to 1e10");
  job.duration_us = *duration;
  if (*duration == 0) return "no run time";
  if (*count == 0 || *fraction == 0) return "asks for no GPU";
  return "";
}

}  // namespace

Result<Trace> parse_trace_csv(std::string_view text, const std::string& name) {
  auto csv = CsvReader::open(text, name);
  if (!csv) return pass_on(csv);
  const auto columns = find_trace_columns(*csv);
  if (!columns) return pass_on(columns);
  Trace trace;
  trace.report.format = "csv";
  std::size_t kinds = 0;
  while (csv->next()) {
    ++trace.report.rows_read;
    TraceJob job;
    const auto reason = read_row(*csv, *columns, job);
    if (!reason) return pass_on(reason);
    if (!reason->empty()) {
      trace.report.drop(*reason);
      continue;
    }
    kinds += job.kind != TraceKind::kUnknown;
    trace.jobs.push_back(std::move(job));
  }
  if (csv->error()) return tl::unexpected<Error>(*csv->error());
  trace.report.real = {"submit times", "run times", "GPUs asked for"};
  if (kinds) trace.report.real.push_back(fmt::format("kind of {} jobs", kinds));
  trace.report.notes.push_back(
      "the source's hour of day is not known; hours count from its first second");
  return finish_trace(std::move(trace), name);
}

}  // namespace smartmig
