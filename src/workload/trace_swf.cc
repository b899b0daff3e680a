// The Standard Workload Format of the Parallel Workloads Archive: `;` header lines, then 18 numbers
// a line, -1 for what is not known (Chapin et al., JSSPP 1999; version 2.2). Fields used, from 1:
// job number, 2 submit, 3 wait, 4 run time, 5 processors allocated, 8 processors asked for, 9 time
// asked for, 11 status, 12 user, 13 group (the account), 15 queue, 16 partition.
#include <array>
#include <cmath>

#include "base/text.h"
#include "workload/lines.h"
#include "workload/trace.h"

namespace smartmig {
namespace {

constexpr int kFields = 18;
constexpr std::array<std::string_view, kFields> kNames = {"job number",
                                                          "submit time",
                                                          "wait time",
                                                          "run time",
                                                          "allocated processors",
                                                          "average cpu time",
                                                          "used memory",
                                                          "requested processors",
                                                          "requested time",
                                                          "requested memory",
                                                          "status",
                                                          "user",
                                                          "group",
                                                          "executable",
                                                          "queue",
                                                          "partition",
                                                          "preceding job",
                                                          "think time"};

struct Header {
  std::optional<double> procs_per_gpu;    // From a note such as: 1 "processor" = 1/100 GPU.
  std::optional<TimeUs> start_of_day_us;  // The clock's zero, from its midnight.
  std::optional<double> unix_start_s;
  std::optional<double> zone_s;
};

// "Fri Oct 01 00:00:03 PDT 1993" -> 3 s: the local time of the log's zero, summer time included.
std::optional<TimeUs> time_of_day(std::string_view text) {
  for (const std::string_view word : split(text, ' ')) {
    if (word.size() != 8 || word[2] != ':' || word[5] != ':') continue;
    const auto hours = parse_integer(word.substr(0, 2));
    const auto minutes = parse_integer(word.substr(3, 2));
    const auto seconds = parse_integer(word.substr(6, 2));
    if (!hours || !minutes || !seconds) continue;
    if (*hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59 || *seconds < 0 ||
        *seconds > 60) {
      continue;
    }
    return *hours * kHourUs + *minutes * kMinuteUs + *seconds * kSecondUs;
  }
  return std::nullopt;
}

void read_header(std::string_view line, Header& header) {
  line = trim(line.substr(1));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trim(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (key == "StartTime") header.start_of_day_us = time_of_day(value);
  if (key == "UnixStartTime") header.unix_start_s = parse_number(value);
  if (key == "TimeZone") header.zone_s = parse_number(value);
  if (key == "Note" && value.find("processor") != std::string_view::npos) {
    const std::size_t part = value.find("1/");
    const std::size_t gpu = value.find(" GPU");
    if (part == std::string_view::npos || gpu == std::string_view::npos || gpu < part + 2) return;
    const auto share = parse_number(value.substr(part + 2, gpu - part - 2));
    if (share && *share > 0 && *share <= 1e6) header.procs_per_gpu = share;
  }
}

std::optional<TimeUs> clock_offset(const Header& header) {
  if (header.start_of_day_us) return header.start_of_day_us;
  if (!header.unix_start_s || !header.zone_s) return std::nullopt;
  const double local = *header.unix_start_s + *header.zone_s;
  if (!(std::abs(local) <= kMaxSeconds)) return std::nullopt;
  return ((to_us(local) % kDayUs) + kDayUs) % kDayUs;
}

using Row = std::array<double, kFields>;

Result<Row> read_fields(const Lines& lines, const std::string& name) {
  Row row{};
  int count = 0;
  constexpr std::string_view kBlank = " \t";
  std::string_view rest = lines.line();
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    if (rest.empty()) break;
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlank));
    rest.remove_prefix(word.size());
    if (count < kFields) {
      const auto value = parse_number(word);
      if (!value || !(std::abs(*value) <= 1e15)) {
        return fail("{}:{}: {}: found {}, expected a number", name, lines.number(), kNames[count],
                    in_quotes(word));
      }
      row[count] = *value;
    }
    ++count;
  }
  if (count == kFields) return row;
  return fail("{}:{}: {} fields, expected 18", name, lines.number(), count);
}

// The reason to drop the row; nothing keeps it.
Result<Dropped> read_row(const Row& row, const Lines& lines, const std::string& name,
                         double procs_per_gpu, TraceJob& job) {
  const auto bad = [&](int field, std::string_view expected) {
    return fail("{}:{}: {}: found '{}', expected {}", name, lines.number(), kNames[field],
                row[field], expected);
  };
  job.id = fmt::format("{}", row[0]);
  if (row[14] >= 0) job.label = fmt::format("queue {}", row[14]);
  const auto name_of = [&](int field) {
    return row[field] >= 0 ? fmt::format("{}", row[field]) : std::string();
  };
  job.user = name_of(11);
  job.account = name_of(12);
  job.partition = name_of(15);
  if (row[1] < 0 && row[1] != -1) return bad(1, "seconds from 0, or -1");
  if (row[1] > kMaxSeconds) return bad(1, "at most 1e10 seconds");
  if (row[3] > kMaxSeconds) return bad(3, "at most 1e10 seconds");
  if (row[1] < 0) return LossReason::kNoSubmitTime;
  // 2, 3, 4: pieces of a job that was checkpointed; another line has the whole of it.
  if (row[10] == 2 || row[10] == 3 || row[10] == 4) return LossReason::kCheckpointPart;
  job.submit_us = to_us(row[1]);
  job.duration_us = row[3] > 0 ? to_us(row[3]) : 0;
  if (row[2] >= 0 && row[2] <= kMaxSeconds) job.start_us = job.submit_us + to_us(row[2]);
  if (row[8] > 0 && row[8] <= kMaxSeconds) job.estimate_us = to_us(row[8]);
  if (job.duration_us == 0) return LossReason::kNoRunTime;
  const double gpus = (row[4] > 0 ? row[4] : row[7]) / procs_per_gpu;
  if (!(gpus > 0)) return LossReason::kNoProcessors;
  if (gpus > kMaxGpusOfJob) return bad(row[4] > 0 ? 4 : 7, "at most 65536 GPUs of them");
  job.gpu_fraction = std::min(gpus, 1.0);
  if (row[7] > 0) job.asked_fraction = std::min(row[7] / procs_per_gpu, 1.0);
  job.gpu_count = static_cast<std::int32_t>(std::ceil(gpus));
  return Dropped();
}

}  // namespace

Result<Trace> parse_trace_swf(std::string_view text, const std::string& name,
                              std::optional<double> procs_per_gpu) {
  Trace trace;
  TraceReport& report = trace.report;
  report.format = "swf";
  Header header;
  Lines lines(text);
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    if (line.starts_with(';')) {
      read_header(line, header);
      continue;
    }
    ++report.rows_read;
    const auto row = read_fields(lines, name);
    if (!row) return pass_on(row);
    TraceJob job;
    const double per_gpu = procs_per_gpu.value_or(header.procs_per_gpu.value_or(1));
    const auto reason = read_row(*row, lines, name, per_gpu, job);
    if (!reason) return pass_on(reason);
    if (!*reason) {
      trace.jobs.push_back(std::move(job));
    } else {
      report.drop(**reason, job);
    }
  }
  if (report.rows_read == 0) return fail("{}: has no jobs", name);
  if (const auto offset = clock_offset(header)) {
    report.hour_known = true;
    for (TraceJob& job : trace.jobs) {
      job.submit_us += *offset;
      if (job.start_us >= 0) job.start_us += *offset;
    }
  } else {
    report.notes.push_back(
        "the source's hour of day is not known; hours count from its first second");
  }
  report.real = {"submit times", "run times", "processors"};
  report.notes.push_back(fmt::format("one processor is taken as 1/{} GPU ({})",
                                     procs_per_gpu.value_or(header.procs_per_gpu.value_or(1)),
                                     procs_per_gpu          ? "as asked"
                                     : header.procs_per_gpu ? "the file's header"
                                                            : "assumed"));
  return finish_trace(std::move(trace), name);
}

}  // namespace smartmig
