// Slurm's accounting: `sacct --parsable2
// --format=JobID,Submit,Start,End,ElapsedRaw,State,AllocTRES,Partition`, in any order and with any
// other columns. sacct does not quote, so neither do we: a '|' in a job name makes a row of too
// many fields.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "workload/lines.h"
#include "workload/slurm_time.h"
#include "workload/trace.h"
#include "workload/tres.h"

namespace smartmig {
namespace {

using Column = std::optional<std::size_t>;

struct SacctColumns {
  std::size_t count = 0;
  Column id, submit, start, end, elapsed, elapsed_raw, state, alloc, requested, partition;
};

// Where a row is, for its error lines.
struct Place {
  const std::string& name;
  std::size_t line;

  tl::unexpected<Error> bad(std::string_view column, std::string_view found,
                            std::string_view expected) const {
    return fail("{}:{}: {}: found {}, expected {}", name, line, column, in_quotes(found), expected);
  }
};

Result<SacctColumns> find_sacct_columns(const std::vector<std::string_view>& header,
                                        const Place& place) {
  const auto find = [&](std::string_view name) -> Column {
    const auto at = std::ranges::find(header, name);
    if (at == header.end()) return std::nullopt;
    return static_cast<std::size_t>(at - header.begin());
  };
  SacctColumns c{header.size(),     find("JobID"),   find("Submit"),     find("Start"),
                 find("End"),       find("Elapsed"), find("ElapsedRaw"), find("State"),
                 find("AllocTRES"), find("ReqTRES"), find("Partition")};
  if (!c.id) c.id = find("JobIDRaw");
  const auto missing = [&](std::string_view what) {
    return fail("{}:{}: column {} is missing from the header", place.name, place.line, what);
  };
  if (!c.id) return missing("JobID");
  if (!c.submit) return missing("Submit");
  if (!c.alloc && !c.requested) return missing("AllocTRES (or ReqTRES)");
  if (!c.elapsed && !c.elapsed_raw && !(c.start && c.end)) {
    return missing("ElapsedRaw (or Elapsed, or Start and End)");
  }
  return c;
}

// 123, 123_4 (a task of an array), 123_[5-9] (tasks still to start), 123+1 (a part of a
// heterogeneous job), and any of them with .STEP behind it.
bool is_job_id(std::string_view id) {
  const auto digits = [&] {
    const std::size_t n = std::min(id.find_first_not_of("0123456789"), id.size());
    id.remove_prefix(n);
    return n > 0;
  };
  if (!digits()) return false;
  if (id.starts_with("_[")) {
    const std::size_t close = id.find(']');
    if (close == std::string_view::npos) return false;
    id.remove_prefix(close + 1);
  } else if (id.starts_with('_')) {
    id.remove_prefix(1);
    if (!digits()) return false;
  }
  if (id.starts_with('+')) {
    id.remove_prefix(1);
    if (!digits()) return false;
  }
  return id.empty() || (id[0] == '.' && id.size() > 1);
}

// "CANCELLED by 1000" -> "CANCELLED"; the states of a job that may still run.
bool is_unfinished(std::string_view state) {
  state = state.substr(0, state.find(' '));
  constexpr std::string_view kUnfinished[] = {
      "RUNNING",      "PENDING",     "SUSPENDED", "COMPLETING", "CONFIGURING",  "REQUEUED",
      "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING",  "SIGNALING",  "SPECIAL_EXIT", "STAGE_OUT",
      "STOPPED",      "R",           "PD",        "S",          "RQ",           "RS"};
  return std::ranges::find(kUnfinished, state) != std::end(kUnfinished);
}

using Fields = std::vector<std::string_view>;

// ElapsedRaw, else Elapsed, else End - Start; 0 where Slurm has none of them.
Result<TimeUs> run_time(const Fields& row, const SacctColumns& columns, const Place& place) {
  if (columns.elapsed_raw && !is_slurm_none(row[*columns.elapsed_raw])) {
    const std::string_view text = row[*columns.elapsed_raw];
    const auto seconds = parse_integer(text);
    if (!seconds || *seconds < 0 || static_cast<double>(*seconds) > kMaxSeconds) {
      return place.bad("ElapsedRaw", text, "whole seconds from 0 to 1e10");
    }
    return *seconds * kSecondUs;
  }
  if (columns.elapsed && !is_slurm_none(row[*columns.elapsed])) {
    const auto elapsed = parse_slurm_elapsed(row[*columns.elapsed]);
    if (!elapsed)
      return place.bad("Elapsed", row[*columns.elapsed], "[days-]hours:minutes:seconds");
    return *elapsed;
  }
  if (!columns.start || !columns.end) return 0;
  const std::string_view start = row[*columns.start];
  const std::string_view end = row[*columns.end];
  if (is_slurm_none(start) || is_slurm_none(end)) return 0;
  const auto start_us = parse_slurm_date(start);
  if (!start_us) return place.bad("Start", start, "a date such as 2024-03-01T12:34:56");
  const auto end_us = parse_slurm_date(end);
  if (!end_us) return place.bad("End", end, "a date such as 2024-03-01T12:34:56");
  return std::max<TimeUs>(*end_us - *start_us, 0);
}

// What it was given, or what it asked for where the first says nothing of GPUs.
Result<TresGpus> find_gpus(const Fields& row, const SacctColumns& columns, const Place& place) {
  TresGpus gpus;
  const std::pair<Column, std::string_view> sources[] = {{columns.alloc, "AllocTRES"},
                                                         {columns.requested, "ReqTRES"}};
  for (const auto& [column, name] : sources) {
    if (!column || gpus.count > 0 || gpus.shards) continue;
    const auto parsed = parse_tres(row[*column]);
    if (!parsed) return place.bad(name, row[*column], "resources such as cpu=8,gres/gpu=1,mem=64G");
    if (parsed->count > kMaxGpusOfJob) return place.bad(name, row[*column], "at most 65536 GPUs");
    gpus = *parsed;
  }
  return gpus;
}

// The reason to drop the row, "" to keep it.
Result<std::string_view> read_row(const Fields& row, const SacctColumns& columns,
                                  const Place& place, TraceJob& job) {
  job.id = row[*columns.id];
  if (!is_job_id(job.id))
    return place.bad("JobID", job.id, "a number such as 123, 123_4 or 123.batch");
  if (job.id.find('.') != std::string::npos) return "job step";
  if (columns.partition) job.label = row[*columns.partition];
  const std::string_view submit = row[*columns.submit];
  if (is_slurm_none(submit)) return "no submit time";
  const auto submit_us = parse_slurm_date(submit);
  if (!submit_us) return place.bad("Submit", submit, "a date such as 2024-03-01T12:34:56");
  job.submit_us = *submit_us;
  if (columns.state && is_unfinished(row[*columns.state])) return "not finished";
  const auto gpus = find_gpus(row, columns, place);
  if (!gpus) return pass_on(gpus);
  const auto duration = run_time(row, columns, place);
  if (!duration) return pass_on(duration);
  job.duration_us = *duration;
  if (*duration == 0) return "no run time";
  if (gpus->count == 0 && gpus->shards) return "asks for shards, whose size sacct does not say";
  if (gpus->count == 0) return "asks for no GPU";
  job.gpu_count = static_cast<std::int32_t>(gpus->count);
  if (gpus->mig_slices > 0) job.gpu_fraction = gpus->mig_slices / 7.0;
  job.memory_mib = gpus->memory_mib;
  return "";
}

}  // namespace

Result<Trace> parse_trace_sacct(std::string_view text, const std::string& name) {
  Lines lines(text);
  while (lines.next() && trim(lines.line()).empty()) {
  }
  if (trim(lines.line()).empty()) return fail("{}: is empty, expected a header line", name);
  std::vector<std::string_view> header = split(lines.line(), '|');
  for (std::string_view& column : header) column = trim(column);
  const auto columns = find_sacct_columns(header, {name, lines.number()});
  if (!columns) return pass_on(columns);

  Trace trace;
  TraceReport& report = trace.report;
  report.format = "sacct";
  while (lines.next()) {
    if (trim(lines.line()).empty()) continue;
    ++report.rows_read;
    const Fields row = split(lines.line(), '|');
    if (row.size() != columns->count) {
      return fail("{}:{}: {} fields, expected {} as in the header", name, lines.number(),
                  row.size(), columns->count);
    }
    TraceJob job;
    const auto reason = read_row(row, *columns, {name, lines.number()}, job);
    if (!reason) return pass_on(reason);
    if (reason->empty()) {
      trace.jobs.push_back(std::move(job));
    } else {
      report.drop(*reason);
    }
  }
  // The clock starts at the midnight before the first job, so that every job keeps its hour of the
  // day.
  TimeUs first = kNever;
  for (const TraceJob& job : trace.jobs) first = std::min(first, job.submit_us);
  for (TraceJob& job : trace.jobs) job.submit_us -= first - first % kDayUs;
  report.hour_known = true;
  report.real = {"submit times", "run times", "GPUs allocated"};
  const auto with_memory =
      std::ranges::count_if(trace.jobs, [](auto& j) { return j.memory_mib > 0; });
  if (with_memory) report.real.push_back(fmt::format("memory of {} MIG slices", with_memory));
  return finish_trace(std::move(trace), name);
}

}  // namespace smartmig
