#include "workload/stats.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "workload/import.h"

namespace smartmig {
namespace {

TEST(Percentiles, AreLinearBetweenRanks) {
  const Percentiles p = percentiles({4, 1, 3, 2, 5});
  EXPECT_EQ(p.min, 1);
  EXPECT_EQ(p.max, 5);
  EXPECT_EQ(p.p50, 3);
  EXPECT_EQ(p.p25, 2);
  EXPECT_DOUBLE_EQ(p.p95, 4.8);
  EXPECT_DOUBLE_EQ(p.mean, 3);
  EXPECT_EQ(percentiles({}).count, 0u);
  EXPECT_EQ(percentiles({7}).p99, 7);
}

TEST(Stats, MeasuresAJobTable) {
  const auto table = parse_job_table(
      "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s,memory_mib\n"
      "a,3600,3670,training,70,35,30,20,10,\n"       // On time on a 1g.
      "b,3600,3609,inference,70,35,30,20,10,6000\n"  // Late even on a 7g; its memory needs a 2g.
      "c,90000,90025,inference,,,,20,,\n"            // Runs on a 4g only; hour 1 of the next day.
      "d,93600,99999,inference,1,1,1,1,1,99999\n",   // No slice has the memory.
      "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  const WorkloadStats stats = measure(*table);
  EXPECT_EQ(stats.jobs, 4u);
  EXPECT_EQ(stats.training, 1u);
  EXPECT_EQ(stats.span_s, 90000);
  EXPECT_DOUBLE_EQ(stats.load_gpus, (10 + 10 + 20 + 1) / 90000.0);
  EXPECT_EQ(stats.smallest_that_runs, (BySize{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(stats.smallest_on_time, (BySize{1, 0, 0, 1, 0, 2}));
  EXPECT_EQ(stats.by_hour[1], 18);  // Three of four jobs, 24 hours.
  EXPECT_EQ(stats.by_hour[2], 6);
  EXPECT_EQ(stats.interarrival_s.max, 86400);
  EXPECT_EQ(stats.slack_s.min, -1);
}

TEST(Stats, CountsWhatATraceAsksFor) {
  const auto trace = parse_trace_csv(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count\n"
      "a,0,10,.1,1\nb,0,10,.3,1\nc,0,10,.6,1\nd,0,10,1,1\ne,100,10,1,4\n",
      "t.csv");
  ASSERT_TRUE(trace);
  const RequestStats stats = measure(*trace);
  EXPECT_EQ(stats.fractional, (BySize{1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(stats.whole, 1u);
  EXPECT_EQ(stats.several, 1u);
  EXPECT_DOUBLE_EQ(stats.load_gpus, (1 + 3 + 6 + 10 + 40) / 100.0);
}

TEST(Stats, PrintsTextAndJson) {
  const auto imported = import_text(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count\na,0,10,.1,1\nb,7200,10,.6,1\nc,7300,0,1,"
      "1\n",
      "t.csv", {});
  ASSERT_TRUE(imported) << imported.error().message;
  const SanityReport report = sanity_report("t.csv", *imported);
  const std::string text = to_text(report);
  EXPECT_NE(text.find("rows: 3 read, 2 kept\n  dropped 1: no run time\n"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "smallest slice that holds a fractional request: 1g 1, none (over 4/7 of a GPU) 1\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  02 12.000 ########################################\n"),
            std::string::npos)
      << text;
  const nlohmann::ordered_json json = to_json(report);
  EXPECT_EQ(json["trace"]["dropped"]["no run time"], 1);
  EXPECT_EQ(json["requests"]["fractional"]["none"], 1);
  EXPECT_EQ(json["by_hour"].size(), 24u);
  EXPECT_EQ(json["jobs"], 2);
}

// The traces are not part of the repository; they lie beside it where they are at all.
std::string shared_trace(const char* name) {
  const auto repository = std::filesystem::path(__FILE__).parent_path() / "../..";
  const std::string path = (repository / "../shared/traces" / name).string();
  if (std::filesystem::exists(path)) return path;
  std::printf("did not run: %s is not here\n", path.c_str());
  return {};
}

// Counted apart from this code, with a few lines of Python over the file. (The model's figures for
// openb, 32, 280, 389, 971 and none 1,406, add up to 3,078 pods; this window has 1,452.)
TEST(Stats, KnowsTheOpenbWindow) {
  const std::string path = shared_trace("dev_openb2023.csv.gz");
  if (path.empty()) return;
  const auto imported = import_jobs(path, {});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->report->rows_read, 3412u);
  EXPECT_EQ(imported->report->kept.rows, 3369u);
  EXPECT_EQ(imported->report->dropped.text(), "43 asks for several GPUs");
  EXPECT_EQ(imported->requests->fractional, (BySize{19, 149, 247, 380, 0, 657}));
  EXPECT_EQ(imported->requests->whole, 1917u);
  EXPECT_NEAR(imported->requests->load_gpus, 18, .5);
  EXPECT_NEAR(imported->table.nominal_days, 20.9, .05);
}

TEST(Stats, FindsTheSameJobsInBothFormsOfTheOpenbWindow) {
  const std::string csv = shared_trace("dev_openb2023.csv.gz");
  const std::string swf = shared_trace("dev_openb2023.swf.gz");
  if (csv.empty() || swf.empty()) return;
  const auto a = import_jobs(csv, {});
  const auto b = import_jobs(swf, {});
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->table.jobs.size(), b->table.jobs.size());
  for (std::size_t i = 0; i < a->table.jobs.size(); ++i) {
    ASSERT_EQ(a->table.jobs[i].submit_us, b->table.jobs[i].submit_us);
    ASSERT_EQ(a->table.jobs[i].time_us, b->table.jobs[i].time_us);
  }
}

TEST(Stats, ReadsTheNasaLog) {
  const std::string path = shared_trace("pwa_nasa_ipsc_1993_3.1_cln.swf.gz");
  if (path.empty()) return;
  ImportOptions options;
  options.swf_procs_per_gpu = 128;
  const auto imported = import_jobs(path, options);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->report->rows_read, 18239u);  // Of 18,271 lines 32 are the header.
  EXPECT_EQ(imported->report->dropped.text(), "173 no run time");
  EXPECT_EQ(imported->table.jobs[0].submit_us, 3 * kSecondUs);  // The log starts at 00:00:03.
}

}  // namespace
}  // namespace smartmig
