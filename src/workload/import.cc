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

}  // namespace

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
  if (format == TraceFormat::kJobTable) {
    auto table = parse_job_table(text, name);
    if (!table) return pass_on(table);
    return Imported{std::move(*table), std::nullopt, std::nullopt};
  }
  const auto trace = parse_trace(format, text, name, options);
  if (!trace) return pass_on(trace);
  auto filled = fill(*trace, options.fill, name);
  if (!filled) return pass_on(filled);
  return Imported{std::move(filled->table), std::move(filled->report), measure(*trace)};
}

SanityReport sanity_report(const std::string& source, const Imported& imported) {
  return {source, imported.report, imported.requests, measure(imported.table)};
}

}  // namespace smartmig
