#include "workload/trace.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/csv.h"
#include "base/text.h"
#include "workload/lines.h"

namespace smartmig {
namespace {

// In the order of TraceFormat.
const std::vector<std::string>& format_words() {
  static const std::vector<std::string> words = {"jobs", "csv", "openb", "swf", "sacct"};
  return words;
}

// The header of sacct's default output: names between blanks, then a row of dashes.
bool is_aligned_sacct(std::string_view line, std::string_view next) {
  const std::string_view id = line.substr(0, line.find_first_of(" \t"));
  const bool dashes = !next.empty() && next.find_first_not_of("- ") == std::string_view::npos;
  return id == "JobID" || id == "JobIDRaw" || (dashes && line.find("State") != line.npos);
}

bool is_swf_row(std::string_view line) {
  constexpr std::string_view kBlank = " \t";
  int fields = 0;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    if (!parse_number(word)) return false;
    line.remove_prefix(word.size());
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    ++fields;
  }
  return fields == 18;
}

}  // namespace

double TraceJob::gpu_hours() const { return to_s(duration_us) / 3600 * gpu_fraction * gpu_count; }

void TraceReport::drop(LossReason reason, const TraceJob& job) {
  dropped.add(reason, {1, is_job(reason) ? 1u : 0u, has_gpu_hours(reason) ? job.gpu_hours() : 0});
}

Result<TraceFormat> parse_trace_format(std::string_view word) {
  const auto& words = format_words();
  const auto at = std::ranges::find(words, word);
  if (at != words.end()) return static_cast<TraceFormat>(at - words.begin());
  return fail("unknown format {}{}", in_quotes(word), suggestion(word, words));
}

std::string_view to_string(TraceFormat format) {
  return format_words()[static_cast<std::size_t>(format)];
}

Result<TraceFormat> detect_format(std::string_view text, const std::string& name) {
  Lines lines(text);
  while (lines.next() && trim(lines.line()).empty()) {
  }
  const std::string_view line = trim(lines.line());
  if (line.empty()) return fail("{}: is empty, expected a job table or a trace", name);
  if (line.starts_with(';') || is_swf_row(line)) return TraceFormat::kSwf;

  if (std::ranges::count_if(line, [](char c) { return c == ',' || c == '|'; }) >=
      static_cast<std::ptrdiff_t>(kMaxColumns)) {
    return tl::unexpected<Error>(too_many_fields(name, lines.number()));
  }
  const char separator = line.find('|') != std::string_view::npos ? '|' : ',';
  std::vector<std::string_view> columns;
  for (std::string_view column : split(line, separator)) {
    column = trim(column);
    if (column.size() >= 2 && column.starts_with('"') && column.ends_with('"')) {
      column = column.substr(1, column.size() - 2);
    }
    columns.push_back(column);
  }
  const auto has = [&](auto... words) { return ((std::ranges::count(columns, words) > 0) || ...); };
  if (separator == '|' && has("JobID", "JobIDRaw", "Submit", "State")) return TraceFormat::kSacct;
  if (has("gpu_milli", "num_gpu", "creation_time")) return TraceFormat::kOpenb;
  if (has("gpu_fraction", "gpu_count", "duration_s")) return TraceFormat::kCsv;
  if (has("id", "deadline_s", "submit_s", "p1g_s", "p7g_s")) return TraceFormat::kJobTable;
  const std::size_t number = lines.number();
  const std::string_view next = lines.next() ? trim(lines.line()) : std::string_view();
  if (is_aligned_sacct(line, next)) {
    return fail(
        "{}:{}: found {}, sacct's output in aligned columns, expected columns between '|': run "
        "sacct with --parsable2",
        name, number, in_quotes(line));
  }
  return fail(
      "{}:{}: found {}, expected the header of a job table (id,submit_s,...) or of a trace; "
      "--format "
      "names one of {}",
      name, number, in_quotes(line), join(format_words(), ", "));
}

Result<Trace> finish_trace(Trace trace, const std::string& name) {
  TraceReport& report = trace.report;
  if (trace.jobs.empty()) {
    return fail("{}: has no job to run among {} rows; dropped: {}", name, report.rows_read,
                report.dropped.text());
  }
  std::ranges::stable_sort(trace.jobs, {}, &TraceJob::submit_us);
  std::unordered_set<std::string> seen;
  seen.reserve(trace.jobs.size());
  // The number to try next for an id that repeats: many rows may have one id.
  std::unordered_map<std::string, int> next_number;
  std::size_t renamed = 0;
  std::size_t censored = 0;
  std::size_t modelled = 0;
  for (TraceJob& job : trace.jobs) {
    if (!seen.insert(job.id).second) {
      std::string unique;
      int& n = next_number.try_emplace(job.id, 2).first->second;
      while (!seen.insert(unique = fmt::format("{}#{}", job.id, n)).second) ++n;
      job.id = unique;
      ++renamed;
    }
    censored += job.label.find("censored") != std::string::npos;
    modelled += job.label.find("modelled-duration") != std::string::npos;
  }
  if (renamed)
    report.notes.push_back(fmt::format("{} repeated ids got a number behind them", renamed));
  if (censored) {
    report.notes.push_back(
        fmt::format("{} jobs are marked censored: they ran longer than the trace shows", censored));
  }
  if (modelled) {
    report.notes.push_back(fmt::format(
        "{} jobs are marked modelled-duration: their run time was not observed", modelled));
  }
  report.kept = {trace.jobs.size(), trace.jobs.size(), 0};
  for (const TraceJob& job : trace.jobs) report.kept.gpu_hours += job.gpu_hours();
  return trace;
}

}  // namespace smartmig
