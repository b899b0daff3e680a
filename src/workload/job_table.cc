#include "workload/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "workload/catalogue.h"
#include "workload/decimal.h"
#include "workload/id_set.h"
#include "workload/kind_word.h"

namespace smartmig {
namespace {

constexpr std::array<std::string_view, kSizeCount> kTimeColumns = {"p1g_s", "p2g_s", "p3g_s",
                                                                   "p4g_s", "p7g_s"};
constexpr std::string_view kKnownColumns[] = {
    "id",      "submit_s", "deadline_s",  "kind",         "p1g_s",      "p2g_s",
    "p3g_s",   "p4g_s",    "p7g_s",       "estimate_s",   "memory_mib", "profile",
    "start_s", "end_s",    "preemptible", "checkpoint_s", "restore_s",  "request"};
constexpr std::string_view kSeconds = "seconds from 0 to 1e10";
constexpr double kMaxCheckpointSeconds = 2e6;  // Kept in milliseconds, in 32 bits.

// Where each column stands in this file.
struct JobColumns {
  std::size_t id, submit, deadline, kind;
  std::array<std::size_t, kSizeCount> times;
  std::optional<std::size_t> estimate, memory, profile, request, start, end, preemptible,
      checkpoint, restore;
  std::vector<std::size_t> extra;
  struct Selected {
    std::size_t column;
    const Selector* by;
  };
  std::vector<Selected> selected;
};

Result<JobColumns> find_job_columns(const CsvReader& csv, std::span<const Selector> where) {
  JobColumns columns{};
  const auto require = [&](std::string_view name, std::size_t& at) -> Result<void> {
    const auto found = csv.require(name);
    if (!found) return pass_on(found);
    at = *found;
    return {};
  };
  if (auto r = require("id", columns.id); !r) return pass_on(r);
  if (auto r = require("submit_s", columns.submit); !r) return pass_on(r);
  if (auto r = require("deadline_s", columns.deadline); !r) return pass_on(r);
  if (auto r = require("kind", columns.kind); !r) return pass_on(r);
  for (int i = 0; i < kSizeCount; ++i) {
    if (auto r = require(kTimeColumns[i], columns.times[i]); !r) return pass_on(r);
  }
  for (const Selector& selector : where) {
    const auto found = csv.find(selector.column);
    if (!found) {
      return fail("--where: found {}, but {} has no such column{}", in_quotes(selector.column),
                  csv.name(), suggestion(selector.column, csv.columns()));
    }
    columns.selected.push_back({*found, &selector});
  }
  columns.estimate = csv.find("estimate_s");
  columns.start = csv.find("start_s");
  columns.end = csv.find("end_s");
  columns.memory = csv.find("memory_mib");
  columns.profile = csv.find("profile");
  columns.request = csv.find("request");
  columns.preemptible = csv.find("preemptible");
  columns.checkpoint = csv.find("checkpoint_s");
  columns.restore = csv.find("restore_s");
  for (std::size_t i = 0; i < csv.columns().size(); ++i) {
    if (std::ranges::find(kKnownColumns, csv.columns()[i]) == std::end(kKnownColumns)) {
      columns.extra.push_back(i);
    }
  }
  return columns;
}

class Parser {
 public:
  Parser(CsvReader csv, JobColumns columns, std::string_view text)
      : csv_(std::move(csv)), columns_(std::move(columns)), text_(text), ids_(text.size() / 80) {
    if (!columns_.profile) return;
    const auto& profiles = Catalogue::shipped().profiles();
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      profiles_.emplace(profiles[i].name, static_cast<std::uint16_t>(i));
    }
  }

  Result<SelectedTable> run() {
    for (const std::size_t column : columns_.extra) {
      if (column != columns_.extra.front()) table_.extra_header.push_back(',');
      append_csv_field(table_.extra_header, csv_.columns()[column]);
    }
    for (; csv_.next(); ++row_) {
      if (!read_row()) return tl::unexpected<Error>(std::move(error_));
    }
    if (csv_.error()) return tl::unexpected<Error>(*csv_.error());
    if (table_.jobs.empty() && left_out_.rows > 0)
      return fail("{}: --where selects none of its {} jobs", csv_.name(), left_out_.rows);
    if (table_.jobs.empty()) return fail("{}: has no jobs, only a header", csv_.name());
    finish_job_table(table_);
    return SelectedTable{std::move(table_), left_out_};
  }

 private:
  bool bad(std::size_t column, std::string_view expected) {
    error_ = csv_.bad_field(column, expected);
    return false;
  }

  bool read_row() {
    Job job;
    const std::string_view id = csv_.field(columns_.id);
    if (id.empty()) return bad(columns_.id, "a name");
    if (table_.jobs.size() >= UINT32_MAX - 1) return bad(columns_.id, "at most 4 billion rows");
    if (!read_times(job) || !read_kind(job) || !read_optional(job)) return false;
    for (const JobColumns::Selected& selected : columns_.selected) {
      if (selects(*selected.by, csv_.field(selected.column))) continue;
      left_out_ += {1, 1, gpu_hours(job)};
      return true;
    }
    if (!read_ran_at(job)) return false;
    rows_.push_back(row_);
    table_.jobs.push_back(job);
    table_.ids.push_back(id);
    if (const auto other = ids_.add_last(table_.ids)) {
      return bad(columns_.id,
                 fmt::format("an id of its own; line {} has it", line_of_row(rows_[*other])));
    }
    if (!columns_.extra.empty()) keep_extra();
    return true;
  }

  bool read_times(Job& job) {
    const auto submit = parse_seconds(csv_.field(columns_.submit));
    if (!submit) return bad(columns_.submit, kSeconds);
    const auto deadline = parse_seconds(csv_.field(columns_.deadline));
    if (!deadline) return bad(columns_.deadline, kSeconds);
    if (*deadline < *submit) {
      return bad(columns_.deadline,
                 fmt::format("at least submit_s, {}", csv_.field(columns_.submit)));
    }
    job.submit_us = *submit;
    job.deadline_us = *deadline;
    bool runs = false;
    for (int i = 0; i < kSizeCount; ++i) {
      const std::string_view field = csv_.field(columns_.times[i]);
      if (field.empty()) continue;
      const auto time = parse_seconds(field);
      if (!time || *time == 0) {
        return bad(columns_.times[i],
                   "seconds from 0.000001 to 1e10, or nothing where it does not run");
      }
      job.time_us[i] = *time;
      runs = true;
    }
    return runs || bad(columns_.times.back(), "a time on one size at least");
  }

  bool read_kind(Job& job) {
    const auto kind = parse_kind(csv_.field(columns_.kind));
    if (!kind) return bad(columns_.kind, "training or inference");
    job.kind = *kind;
    return true;
  }

  bool read_estimate(Job& job) {
    if (!columns_.estimate || csv_.field(*columns_.estimate).empty()) return true;
    const auto estimate = parse_seconds(csv_.field(*columns_.estimate));
    if (!estimate || *estimate == 0)
      return bad(*columns_.estimate, "seconds from 0.000001 to 1e10, or nothing");
    job.estimate_us = *estimate;
    return true;
  }

  // Both times or neither; start_s is not before submit_s, nor end_s before start_s.
  bool read_ran_at(const Job& job) {
    if (!columns_.start || !columns_.end) return true;
    const std::string_view start_text = csv_.field(*columns_.start);
    const std::string_view end_text = csv_.field(*columns_.end);
    RanAt ran_at;
    if (!start_text.empty() || !end_text.empty()) {
      const auto start = parse_seconds(start_text);
      if (!start || *start < job.submit_us)
        return bad(*columns_.start, "seconds from submit_s to 1e10");
      const auto end = parse_seconds(end_text);
      if (!end || *end < *start) return bad(*columns_.end, "seconds from start_s to 1e10");
      ran_at = {*start, *end};
    }
    table_.ran_at.push_back(ran_at);
    return true;
  }

  bool read_optional(Job& job) {
    if (columns_.memory && !csv_.field(*columns_.memory).empty()) {
      const auto memory = csv_.number(*columns_.memory, 0, kMaxMemoryMib);
      if (!memory) return error_ = memory.error(), false;
      job.memory_mib =
          static_cast<std::int32_t>(std::ceil(*memory));  // Half a MiB needs a whole one.
    }
    return read_estimate(job) && read_profile(job) && read_request(job) && read_preemptible(job) &&
           read_milliseconds(columns_.checkpoint, job.checkpoint_ms) &&
           read_milliseconds(columns_.restore, job.restore_ms);
  }

  bool read_profile(Job& job) {
    if (!columns_.profile || csv_.field(*columns_.profile).empty()) return true;
    const std::string_view name = csv_.field(*columns_.profile);
    const auto found = profiles_.find(name);
    if (found != profiles_.end()) return job.profile = found->second, true;
    std::vector<std::string> names;
    for (const SpeedProfile& profile : Catalogue::shipped().profiles()) {
      names.push_back(profile.name);
    }
    return bad(*columns_.profile, "a profile of the catalogue" + suggestion(name, names));
  }

  bool read_request(Job& job) {
    if (!columns_.request || csv_.field(*columns_.request).empty()) return true;
    const auto share = parse_seconds(csv_.field(*columns_.request));  // A decimal, in millionths.
    if (!share || *share == 0 || *share > kWholeGpu)
      return bad(*columns_.request, "a share of a GPU from 0.000001 to 1, or nothing");
    job.request_millionths = static_cast<std::int32_t>(*share);
    return true;
  }

  bool read_preemptible(Job& job) {
    if (!columns_.preemptible) return true;
    const std::string_view word = csv_.field(*columns_.preemptible);
    if (word == "yes" || word == "true" || word == "1") {
      job.preemptible = Preemptible::kYes;
    } else if (word == "no" || word == "false" || word == "0") {
      job.preemptible = Preemptible::kNo;
    } else if (!word.empty()) {
      return bad(*columns_.preemptible, "yes, no or nothing");
    }
    return true;
  }

  bool read_milliseconds(const std::optional<std::size_t>& column, std::int32_t& out) {
    if (!column || csv_.field(*column).empty()) return true;
    const auto seconds = csv_.number(*column, 0, kMaxCheckpointSeconds);
    if (!seconds) return error_ = seconds.error(), false;
    out = static_cast<std::int32_t>(std::lround(*seconds * 1e3));
    return true;
  }

  void keep_extra() {
    extra_.clear();
    for (const std::size_t column : columns_.extra) {
      if (column != columns_.extra.front()) extra_.push_back(',');
      append_csv_field(extra_, csv_.field(column));
    }
    table_.extra.push_back(extra_);
  }

  // Lines are not kept, as only an error needs one: reads the text again up to that row.
  std::size_t line_of_row(std::size_t row) const {
    auto again = CsvReader::open(text_, csv_.name());
    for (std::size_t i = 0; i <= row; ++i) again->next();
    return again->line();
  }

  CsvReader csv_;
  JobColumns columns_;
  std::string_view text_;
  IdSet ids_;
  std::unordered_map<std::string_view, std::uint16_t> profiles_;
  JobTable table_;
  std::size_t row_ = 0;            // Of the file, from 0.
  std::vector<std::size_t> rows_;  // Where each job of the table stands.
  Amount left_out_;
  std::string extra_;
  Error error_;
};

void append_row(std::string& out, const Job& job) {
  append_seconds(out, job.submit_us);
  out.push_back(',');
  append_seconds(out, job.deadline_us);
  out.append(job.kind == JobKind::kTraining ? ",training" : ",inference");
  for (const TimeUs time : job.time_us) {
    out.push_back(',');
    if (time > 0) append_seconds(out, time);
  }
}

}  // namespace

Result<JobTable> read_job_table(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return pass_on(text);
  return parse_job_table(*text, path);
}

Result<JobTable> parse_job_table(std::string_view text, const std::string& name) {
  auto selected = parse_job_table(text, name, {});
  if (!selected) return pass_on(selected);
  return std::move(selected->table);
}

Result<SelectedTable> parse_job_table(std::string_view text, const std::string& name,
                                      std::span<const Selector> where) {
  auto csv = CsvReader::open(text, name);
  if (!csv) return pass_on(csv);
  auto columns = find_job_columns(*csv, where);
  if (!columns) return pass_on(columns);
  return Parser(std::move(*csv), std::move(*columns), text).run();
}

double gpu_hours(const Job& job) { return to_s(time_on_largest(job)) / 3600; }

std::string format_job_table(const JobTable& table) {
  const auto any = [&](auto uses) { return std::ranges::any_of(table.jobs, uses); };
  const bool estimate = any([](const Job& job) { return job.estimate_us != 0; });
  const bool memory = any([](const Job& job) { return job.memory_mib != 0; });
  const bool profile = any([](const Job& job) { return job.profile != kNoProfile; });
  const bool request = any([](const Job& job) { return job.request_millionths != 0; });
  const bool preemptible = any([](const Job& j) { return j.preemptible != Preemptible::kByKind; });
  const bool checkpoint = any([](const Job& job) { return job.checkpoint_ms != kByCostModel; });
  const bool restore = any([](const Job& job) { return job.restore_ms != kByCostModel; });

  std::string out = "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s";
  out.reserve(table.jobs.size() * 80 + 256);
  if (estimate) out += ",estimate_s";
  if (memory) out += ",memory_mib";
  if (profile) out += ",profile";
  if (request) out += ",request";
  if (preemptible) out += ",preemptible";
  if (checkpoint) out += ",checkpoint_s";
  if (restore) out += ",restore_s";
  if (!table.ran_at.empty()) out += ",start_s,end_s";
  if (!table.extra.empty()) out.append(",").append(table.extra_header);
  out.push_back('\n');
  const auto milliseconds = [&](std::int32_t ms) {
    out.push_back(',');
    if (ms != kByCostModel) append_seconds(out, TimeUs{ms} * 1000);
  };
  // Below 0: not known.
  const auto seconds = [&](TimeUs us) {
    out.push_back(',');
    if (us >= 0) append_seconds(out, us);
  };
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const Job& job = table.jobs[i];
    if (table.ids.empty()) {
      out += fmt::format_int(i).c_str();
    } else {
      append_csv_field(out, table.ids[i]);
    }
    out.push_back(',');
    append_row(out, job);
    if (estimate) seconds(job.estimate_us > 0 ? job.estimate_us : -1);
    if (memory) out.append(job.memory_mib ? fmt::format(",{}", job.memory_mib) : ",");
    if (profile) {
      out.push_back(',');
      if (job.profile != kNoProfile) out += Catalogue::shipped().profiles()[job.profile].name;
    }
    if (request) seconds(job.request_millionths > 0 ? TimeUs{job.request_millionths} : -1);
    if (preemptible) {
      constexpr std::string_view kWords[] = {",", ",no", ",yes"};  // In the order of Preemptible.
      out += kWords[static_cast<int>(job.preemptible)];
    }
    if (checkpoint) milliseconds(job.checkpoint_ms);
    if (restore) milliseconds(job.restore_ms);
    if (!table.ran_at.empty()) {
      seconds(table.ran_at[i].start_us);
      seconds(table.ran_at[i].end_us);
    }
    if (!table.extra.empty()) out.append(",").append(table.extra[i]);
    out.push_back('\n');
  }
  return out;
}

void finish_job_table(JobTable& table) {
  const auto by_submit = [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; };
  if (!std::ranges::is_sorted(table.jobs, by_submit)) {
    std::vector<JobIndex> order(table.jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](JobIndex i) { return table.jobs[i].submit_us; });
    JobTable sorted;
    sorted.jobs.reserve(table.jobs.size());
    for (const JobIndex i : order) {
      sorted.jobs.push_back(table.jobs[i]);
      if (!table.ids.empty()) sorted.ids.push_back(table.ids[i]);
      if (!table.extra.empty()) sorted.extra.push_back(table.extra[i]);
      if (!table.ran_at.empty()) sorted.ran_at.push_back(table.ran_at[i]);
    }
    table.ran_at = std::move(sorted.ran_at);
    table.jobs = std::move(sorted.jobs);
    table.ids = std::move(sorted.ids);
    table.extra = std::move(sorted.extra);
  }
  if (table.jobs.empty()) return;
  table.trace = TraceWindow{table.jobs.front().submit_us, table.jobs.back().submit_us};
  const TimeUs span_us = table.trace->span_us();
  // Jobs that all come at once have no span; a day keeps what is divided by it finite.
  table.nominal_days =
      span_us == 0 ? 1 : static_cast<double>(span_us) / static_cast<double>(kDayUs);
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

}  // namespace smartmig
