#include "workload/import.h"

#include "base/file.h"

namespace smartmig {
namespace {

Result<Trace> parse_trace(TraceFormat format, std::string_view text, const std::string& name,
                          const ImportOptions& options) {
  switch (format) {
    case TraceFormat::kCsv:
      return parse_trace_csv(text, name);
    case TraceFormat::kOpenb:
      return parse_trace_openb(text, name);
    case TraceFormat::kSwf:
      return parse_trace_swf(text, name, options.swf_procs_per_gpu);
    case TraceFormat::kSacct:
      return parse_trace_sacct(text, name);
    case TraceFormat::kJobTable:
      break;
  }
  return fail("{}: a job table is not a trace", name);
}

Result<Imported> import_table(std::string_view text, const std::string& name,
                              const ImportOptions& options) {
  auto selected = parse_job_table(text, name, options.where);
  if (!selected) return pass_on(selected);
  Imported imported;
  imported.table = std::move(selected->table);
  if (selected->left_out.rows > 0)
    imported.dropped.add(LossReason::kNotSelected, selected->left_out);
  const std::size_t jobs = imported.table.jobs.size();
  imported.counts = {jobs, jobs, 0, jobs};
  for (Job& job : imported.table.jobs) {
    imported.sources.push_back({gpu_hours(job), true});
    if (!options.fill.own_estimates) job.estimate_us = 0;
    imported.counts.estimates += job.estimate_us > 0;
  }
  return imported;
}

}  // namespace

Result<Trace> read_trace(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return pass_on(text);
  const auto format = detect_format(*text, path);
  if (!format) return pass_on(format);
  return parse_trace(*format, *text, path, {});
}

Result<Imported> import_jobs(const std::string& path, const ImportOptions& options) {
  const auto text = read_file(path);
  if (!text) return pass_on(text);
  return import_text(*text, path, options);
}

Result<Imported> import_text(std::string_view text, const std::string& name,
                             const ImportOptions& options) {
  TraceFormat format = options.format.value_or(TraceFormat::kJobTable);
  if (!options.format) {
    const auto detected = detect_format(text, name);
    if (!detected) return pass_on(detected);
    format = *detected;
  }
  if (format == TraceFormat::kJobTable) return import_table(text, name, options);
  auto trace = parse_trace(format, text, name, options);
  if (!trace) return pass_on(trace);
  if (const auto selected = select_jobs(*trace, options.where, name); !selected)
    return pass_on(selected);
  auto filled = fill(*trace, options.fill, name);
  if (!filled) return pass_on(filled);
  Losses dropped = filled->report.dropped;
  return Imported{std::move(filled->table),   filled->counts,
                  std::move(filled->sources), std::move(dropped),
                  std::move(filled->report),  measure(*trace)};
}

SanityReport sanity_report(const std::string& source, const Imported& imported) {
  return {source, imported.report, imported.requests, measure(imported.table)};
}

}  // namespace smartmig
