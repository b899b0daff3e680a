#include "workload/losses.h"

#include <gtest/gtest.h>

#include "workload/import.h"

namespace smartmig {
namespace {

constexpr const char* kLossHeader = "job_id,submit_s,duration_s,gpu_fraction,gpu_count,user\n";

Imported import_csv(const std::string& rows, const ImportOptions& options = {}) {
  auto imported = import_text(kLossHeader + rows, "t.csv", options);
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? std::move(*imported) : Imported{};
}

// One hour on one GPU, two hours on four GPUs, an hour on half a GPU, one row without a run time.
constexpr const char* kLossRows =
    "a,0,3600,1,1,ann\nb,1,7200,1,4,bob\nc,2,3600,.5,1,ann\nd,3,0,1,1,ann\n";

TEST(Losses, CountRowsJobsAndGpuHoursByReason) {
  const Imported imported = import_csv(kLossRows);
  const Amount kept = imported.report->kept;
  EXPECT_EQ(kept.rows, 2u);
  EXPECT_EQ(kept.jobs, 2u);
  EXPECT_DOUBLE_EQ(kept.gpu_hours, 1.5);
  const Amount several = imported.dropped.of(LossReason::kSeveralGpus);
  EXPECT_EQ(several.rows, 1u);
  EXPECT_EQ(several.jobs, 1u);
  EXPECT_DOUBLE_EQ(several.gpu_hours, 8);
  EXPECT_EQ(imported.dropped.of(LossReason::kNoRunTime).rows, 1u);
  EXPECT_DOUBLE_EQ(imported.dropped.total().gpu_hours, 8);
  EXPECT_EQ(imported.dropped.text(), "1 no run time, 1 asks for several GPUs");
}

TEST(Losses, SayWhatRunningOnOneGpuLeavesOut) {
  ImportOptions options;
  options.fill.multi_gpu = MultiGpu::kOne;
  const Imported imported = import_csv(kLossRows, options);
  EXPECT_EQ(imported.report->kept.jobs, 3u);
  EXPECT_DOUBLE_EQ(imported.report->kept.gpu_hours, 3.5);
  EXPECT_DOUBLE_EQ(imported.dropped.of(LossReason::kFurtherGpus).gpu_hours, 6);
}

TEST(Losses, CountASplitRowOnceAndItsJobsEach) {
  ImportOptions options;
  options.fill.multi_gpu = MultiGpu::kSplit;
  const Imported imported = import_csv(kLossRows, options);
  EXPECT_EQ(imported.report->kept.rows, 3u);
  EXPECT_EQ(imported.report->kept.jobs, 6u);
  EXPECT_DOUBLE_EQ(imported.report->kept.gpu_hours, 9.5);
  std::size_t rows = 0;
  for (const JobSource& source : imported.sources) rows += source.first_of_row;
  EXPECT_EQ(rows, 3u);
}

TEST(Where, SelectsJobsOfATraceAndCountsTheOthers) {
  ImportOptions options;
  options.where = {*parse_selector("user=ann,eve")};
  const Imported imported = import_csv(kLossRows, options);
  EXPECT_EQ(imported.table.jobs.size(), 2u);
  EXPECT_DOUBLE_EQ(imported.dropped.of(LossReason::kNotSelected).gpu_hours, 8);
  EXPECT_EQ(imported.table.extra_header, "user");
  EXPECT_EQ(imported.table.extra[0], "ann");

  // The table that was made of it can be selected from again, by any column.
  const std::string text = format_job_table(import_csv(kLossRows).table);
  const auto again = import_text(text, "jobs.csv", options);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->table.jobs.size(), 2u);
  options.where = {*parse_selector("id=c")};
  EXPECT_EQ(import_text(text, "jobs.csv", options)->table.ids[0], "c");
}

TEST(Where, RefusesWhatIsNotThere) {
  const auto error = [](const std::string& text, const std::string& where) {
    ImportOptions options;
    options.where = {*parse_selector(where)};
    const auto imported = import_text(text, "t.csv", options);
    return imported ? "no error" : imported.error().message;
  };
  const std::string trace = std::string(kLossHeader) + kLossRows;
  EXPECT_EQ(error(trace, "usr=ann"),
            "--where: found 'usr', expected one of class, user, account, partition; did you mean "
            "'user'?");
  EXPECT_EQ(error(trace, "partition=x"),
            "--where: found 'partition', but t.csv does not say it of any job");
  EXPECT_EQ(error(trace, "user=zoe"),
            "t.csv: --where 'user=zoe' selects no job, expected a value that stands there");
  const std::string table = format_job_table(import_csv(kLossRows).table);
  EXPECT_EQ(error(table, "team=x").substr(0, 60),
            "--where: found 'team', but t.csv has no such column; known: ");
  EXPECT_EQ(error(table, "user=zoe"), "t.csv: --where selects none of its 2 jobs");
  EXPECT_EQ(parse_selector("user").error().message,
            "--where: found 'user', expected COLUMN=VALUE, as in user=alice or "
            "partition=a100,h100");
}

}  // namespace
}  // namespace smartmig
