// Traces in the common schema: job_id,submit_s,duration_s,gpu_fraction,gpu_count and, optional,
// kind,source_class,start_s,deadline_s,estimate_s,user,account,partition.
#include <array>
#include <cmath>

#include "base/csv.h"
#include "workload/decimal.h"
#include "workload/kind_word.h"
#include "workload/select.h"
#include "workload/trace.h"

namespace smartmig {
namespace {

struct TraceColumns {
  std::size_t id, submit, duration, fraction, count;
  std::optional<std::size_t> kind, label, start, deadline, estimate;
  std::array<std::optional<std::size_t>, kSelectorColumns.size()> selectors;
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
  columns.start = csv.find("start_s");
  columns.deadline = csv.find("deadline_s");
  columns.estimate = csv.find("estimate_s");
  for (std::size_t i = 0; i < kSelectorColumns.size(); ++i)
    columns.selectors[i] = csv.find(kSelectorColumns[i].name);
  return columns;
}

// Optional times, each empty where the source does not know it.
Result<void> read_known_times(const CsvReader& csv, const TraceColumns& columns, TraceJob& job) {
  const auto read = [&](const std::optional<std::size_t>& column, TimeUs least, TimeUs& out,
                        std::string_view expected) -> Result<void> {
    if (!column || csv.field(*column).empty()) return {};
    const auto time = parse_seconds(csv.field(*column));
    if (!time || *time < least) return tl::unexpected<Error>(csv.bad_field(*column, expected));
    out = *time;
    return {};
  };
  constexpr std::string_view kAfterSubmit = "seconds from submit_s to 1e10, or nothing";
  if (auto r = read(columns.start, job.submit_us, job.start_us, kAfterSubmit); !r) return r;
  if (auto r = read(columns.deadline, job.submit_us, job.deadline_us, kAfterSubmit); !r) return r;
  return read(columns.estimate, 1, job.estimate_us, "seconds from 0.000001 to 1e10, or nothing");
}

// The reason to drop the row; nothing keeps it.
Result<Dropped> read_row(const CsvReader& csv, const TraceColumns& columns, TraceJob& job) {
  const auto bad = [&](std::size_t column, std::string_view expected) {
    return tl::unexpected<Error>(csv.bad_field(column, expected));
  };
  job.id = csv.field(columns.id);
  if (job.id.empty()) return bad(columns.id, "a name");
  const auto submit = parse_seconds(csv.field(columns.submit));
  if (!submit) return bad(columns.submit, "seconds from 0 to 1e10");
  job.submit_us = *submit;
  if (columns.kind) {
    const std::string_view word = csv.field(*columns.kind);
    if (const auto kind = parse_kind(word)) {
      job.kind = *kind == JobKind::kTraining ? TraceKind::kTraining : TraceKind::kInference;
    } else if (word != "unknown" && !word.empty()) {
      return bad(*columns.kind, "training, inference or unknown");
    }
  }
  if (columns.label) job.label = csv.field(*columns.label);
  for (std::size_t i = 0; i < kSelectorColumns.size(); ++i) {
    if (columns.selectors[i]) job.*kSelectorColumns[i].field = csv.field(*columns.selectors[i]);
  }
  if (const auto known = read_known_times(csv, columns, job); !known) return pass_on(known);

  const auto count = csv.number(columns.count, 0, kMaxGpusOfJob);
  if (!count) return pass_on(count);
  if (*count != std::floor(*count)) return bad(columns.count, "a whole number");
  const auto fraction = csv.number(columns.fraction, 0, 1);
  if (!fraction) return pass_on(fraction);
  if (*fraction < 1 && *count > 1) return bad(columns.fraction, "1, as gpu_count is over 1");
  job.gpu_count = static_cast<std::int32_t>(*count);
  job.gpu_fraction = job.asked_fraction = *fraction;

  if (csv.field(columns.duration).empty()) return LossReason::kNoRunTime;
  const auto duration = parse_seconds(csv.field(columns.duration));
  if (!duration) return bad(columns.duration, "seconds from 0 to 1e10");
  job.duration_us = *duration;
  if (*duration == 0) return LossReason::kNoRunTime;
  if (*count == 0 || *fraction == 0) return LossReason::kNoGpu;
  return Dropped();
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
    if (*reason) {
      trace.report.drop(**reason, job);
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
