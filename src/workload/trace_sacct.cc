// Slurm's accounting: `sacct --parsable2
// --format=JobID,User,Account,Partition,Submit,Start,End,ElapsedRaw,Timelimit,State,AllocTRES`, in
// any order and with any other columns. sacct does not quote, so neither do we: a '|' in a job name
// makes a row of too many fields.
#include <algorithm>
#include <cmath>

#include "base/csv.h"
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
  Column id, submit, start, end, elapsed, elapsed_raw, state, alloc, requested;
  Column partition, user, account, limit, limit_raw;
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
  SacctColumns c;
  c.count = header.size();
  const std::pair<std::string_view, Column SacctColumns::*> names[] = {
      {"JobID", &SacctColumns::id},          {"Submit", &SacctColumns::submit},
      {"Start", &SacctColumns::start},       {"End", &SacctColumns::end},
      {"Elapsed", &SacctColumns::elapsed},   {"ElapsedRaw", &SacctColumns::elapsed_raw},
      {"State", &SacctColumns::state},       {"AllocTRES", &SacctColumns::alloc},
      {"ReqTRES", &SacctColumns::requested}, {"Partition", &SacctColumns::partition},
      {"User", &SacctColumns::user},         {"Account", &SacctColumns::account},
      {"Timelimit", &SacctColumns::limit},   {"TimelimitRaw", &SacctColumns::limit_raw}};
  for (const auto& [name, member] : names) c.*member = find(name);
  if (!c.id) c.id = find("JobIDRaw");
  const auto missing = [&](std::string_view what) {
    return fail("{}:{}: column {} is missing from the header{}", place.name, place.line, what,
                header.size() == 1 ? "; sacct needs --parsable2 to put '|' between columns" : "");
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

// The share of each GPU that the user asked for: a MIG profile in ReqTRES, else what the job was
// given, as sites often leave the type out of what was asked for.
Result<double> asked_fraction(const Fields& row, const SacctColumns& columns, const Place& place,
                              const TraceJob& job) {
  if (!columns.requested) return job.gpu_fraction;
  const auto parsed = parse_tres(row[*columns.requested]);
  if (!parsed) {
    return place.bad("ReqTRES", row[*columns.requested],
                     "resources such as cpu=8,gres/gpu=1,mem=64G");
  }
  return parsed->mig_slices > 0 ? parsed->mig_slices / 7.0 : job.gpu_fraction;
}

// What the user asked for at most, which is what a scheduler believes; 0 where there is no limit.
Result<TimeUs> time_limit(const Fields& row, const SacctColumns& columns, const Place& place) {
  const auto none = [](std::string_view text) {
    return is_slurm_none(text) || text == "UNLIMITED" || text == "Partition_Limit";
  };
  if (columns.limit_raw && !none(row[*columns.limit_raw])) {
    const std::string_view text = row[*columns.limit_raw];
    const auto minutes = parse_integer(text);
    if (!minutes || *minutes < 0 || static_cast<double>(*minutes) * 60 > kMaxSeconds)
      return place.bad("TimelimitRaw", text, "whole minutes, UNLIMITED or Partition_Limit");
    return *minutes * kMinuteUs;
  }
  if (columns.limit && !none(row[*columns.limit])) {
    const std::string_view text = row[*columns.limit];
    const auto limit = parse_slurm_elapsed(text);
    if (!limit) {
      return place.bad("Timelimit", text,
                       "[days-]hours:minutes:seconds, UNLIMITED or Partition_Limit");
    }
    return *limit;
  }
  return 0;
}

// When the job started; -1 where Slurm does not know, or says it was before it was submitted.
Result<TimeUs> start_time(const Fields& row, const SacctColumns& columns, const Place& place,
                          TimeUs submit_us) {
  if (!columns.start || is_slurm_none(row[*columns.start])) return -1;
  const std::string_view text = row[*columns.start];
  const auto start = parse_slurm_date(text);
  if (!start) return place.bad("Start", text, "a date such as 2024-03-01T12:34:56");
  return *start >= submit_us ? *start : -1;
}

void set_gpus(const TresGpus& gpus, TraceJob& job) {
  job.gpu_count = static_cast<std::int32_t>(gpus.count);
  if (gpus.mig_slices > 0) job.gpu_fraction = gpus.mig_slices / 7.0;
  job.memory_mib = gpus.memory_mib;
}

// The reason to drop the row; nothing keeps it.
Result<Dropped> read_row(const Fields& row, const SacctColumns& columns, const Place& place,
                         TraceJob& job) {
  job.id = row[*columns.id];
  if (!is_job_id(job.id))
    return place.bad("JobID", job.id, "a number such as 123, 123_4 or 123.batch");
  if (job.id.find('.') != std::string::npos) return LossReason::kJobStep;
  if (columns.partition) job.label = job.partition = row[*columns.partition];
  if (columns.user) job.user = row[*columns.user];
  if (columns.account) job.account = row[*columns.account];
  const std::string_view submit = row[*columns.submit];
  if (is_slurm_none(submit)) return LossReason::kNoSubmitTime;
  const auto submit_us = parse_slurm_date(submit);
  if (!submit_us) return place.bad("Submit", submit, "a date such as 2024-03-01T12:34:56");
  job.submit_us = *submit_us;
  const auto gpus = find_gpus(row, columns, place);
  const auto duration = run_time(row, columns, place);
  if (columns.state && is_unfinished(row[*columns.state])) {
    // What it used so far, where Slurm says it.
    if (gpus && duration) {
      set_gpus(*gpus, job);
      job.duration_us = *duration;
    }
    return LossReason::kNotFinished;
  }
  if (!gpus) return pass_on(gpus);
  if (!duration) return pass_on(duration);
  job.duration_us = *duration;
  if (*duration == 0) return LossReason::kNoRunTime;
  if (gpus->count == 0 && gpus->shards) return LossReason::kShards;
  if (gpus->count == 0) return LossReason::kNoGpu;
  set_gpus(*gpus, job);
  const auto asked = asked_fraction(row, columns, place, job);
  if (!asked) return pass_on(asked);
  job.asked_fraction = *asked;
  const auto start = start_time(row, columns, place, job.submit_us);
  if (!start) return pass_on(start);
  job.start_us = *start;
  const auto limit = time_limit(row, columns, place);
  if (!limit) return pass_on(limit);
  job.estimate_us = *limit;
  return Dropped();
}

}  // namespace

Result<Trace> parse_trace_sacct(std::string_view text, const std::string& name) {
  Lines lines(text);
  while (lines.next() && trim(lines.line()).empty()) {
  }
  if (trim(lines.line()).empty()) return fail("{}: is empty, expected a header line", name);
  const auto too_wide = [&] {
    return std::ranges::count(lines.line(), '|') >= static_cast<std::ptrdiff_t>(kMaxColumns);
  };
  const auto refuse_wide = [&] {
    return tl::unexpected<Error>(too_many_fields(name, lines.number()));
  };
  if (too_wide()) return refuse_wide();
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
    if (too_wide()) return refuse_wide();
    const Fields row = split(lines.line(), '|');
    if (row.size() != columns->count) {
      return fail("{}:{}: {} fields, expected {} as in the header", name, lines.number(),
                  row.size(), columns->count);
    }
    TraceJob job;
    const auto reason = read_row(row, *columns, {name, lines.number()}, job);
    if (!reason) return pass_on(reason);
    if (!*reason) {
      trace.jobs.push_back(std::move(job));
    } else {
      report.drop(**reason, job);
    }
  }
  // The clock starts at the midnight before the first job, so that every job keeps its hour of the
  // day.
  TimeUs first = kNever;
  for (const TraceJob& job : trace.jobs) first = std::min(first, job.submit_us);
  for (TraceJob& job : trace.jobs) {
    job.submit_us -= first - first % kDayUs;
    if (job.start_us >= 0) job.start_us -= first - first % kDayUs;
  }
  report.hour_known = true;
  report.real = {"submit times", "run times", "GPUs allocated"};
  const auto with_memory =
      std::ranges::count_if(trace.jobs, [](auto& j) { return j.memory_mib > 0; });
  if (with_memory) report.real.push_back(fmt::format("memory of {} MIG slices", with_memory));
  return finish_trace(std::move(trace), name);
}

}  // namespace smartmig
