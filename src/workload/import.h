// Any file with jobs in it, as a job table: ours as it is, a trace through the rules of fill.h.
#pragma once

#include <optional>
#include <string>

#include "workload/fill.h"
#include "workload/job_table.h"
#include "workload/select.h"
#include "workload/stats.h"
#include "workload/trace.h"

namespace smartmig {

struct ImportOptions {
  std::optional<TraceFormat> format;        // Nothing: by the first line.
  std::optional<double> swf_procs_per_gpu;  // Nothing: by the file's header, else 1.
  std::vector<Selector> where;              // All of them must select a job.
  FillOptions fill;
};

struct Imported {
  JobTable table;
  ImportCounts counts;
  std::vector<JobSource> sources;  // One for each job.
  Losses dropped;
  // Both only for a trace.
  std::optional<TraceReport> report;
  std::optional<RequestStats> requests;
};

// A trace as its reader leaves it, before the rules of fill.h. The error: the file is a job table,
// or no trace at all.
Result<Trace> read_trace(const std::string& path);

Result<Imported> import_jobs(const std::string& path, const ImportOptions& options);
Result<Imported> import_text(std::string_view text, const std::string& name,
                             const ImportOptions& options);

SanityReport sanity_report(const std::string& source, const Imported& imported);

}  // namespace smartmig
