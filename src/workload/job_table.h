// Our job table: CSV with the columns of docs/formats/job-table.md, plain or gzip.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/job.h"
#include "workload/losses.h"
#include "workload/select.h"

namespace smartmig {

// 16 TiB: beyond any board, and far from the end of an int32.
inline constexpr std::int32_t kMaxMemoryMib = 1 << 24;

// Every error is one line with file, line and column. The jobs come sorted by submit time.
Result<JobTable> read_job_table(const std::string& path);
// `name` stands for the file in error lines.
Result<JobTable> parse_job_table(std::string_view text, const std::string& name);

// Only the rows that `where` selects, by any columns of the file; what it leaves out is counted.
struct SelectedTable {
  JobTable table;
  Amount left_out;
};
Result<SelectedTable> parse_job_table(std::string_view text, const std::string& name,
                                      std::span<const Selector> where);

// The time on a whole GPU, in hours: a job table does not say more.
double gpu_hours(const Job& job);

// Optional columns are written only where a job uses them. parse_job_table(format_job_table(t)) is
// t again, to the microsecond (t.nominal_days and t.trace apart, which are then those of a trace).
std::string format_job_table(const JobTable& table);

// Sorts the jobs by submit time, rows of equal time in their present order, and their ids and extra
// columns with them; sets `trace`, and nominal_days to the time from the first submit to the last
// (1 if that is none).
void finish_job_table(JobTable& table);

// `text` as one CSV field: quoted where it has to be.
void append_csv_field(std::string& out, std::string_view text);

}  // namespace smartmig
