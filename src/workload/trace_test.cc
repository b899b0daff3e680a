#include "workload/trace.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(TraceFormat, IsFoundByTheFirstLine) {
  const std::pair<const char*, TraceFormat> cases[] = {
      {"id,submit_s,deadline_s,kind,p1g_s\n", TraceFormat::kJobTable},
      {"\"id\",\"submit_s\"\n", TraceFormat::kJobTable},
      {"\n\nsubmit_s,p7g_s\n", TraceFormat::kJobTable},
      {"\xef\xbb\xbfjob_id,submit_s,duration_s,gpu_fraction,gpu_count\r\n", TraceFormat::kCsv},
      {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", TraceFormat::kOpenb},
      {"JobID|Submit|State\n", TraceFormat::kSacct},
      {"; Version: 2.2\n", TraceFormat::kSwf},
      {"  1   0\t-1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n", TraceFormat::kSwf}};
  for (const auto& [text, format] : cases) {
    const auto found = detect_format(text, "t");
    ASSERT_TRUE(found) << text << found.error().message;
    EXPECT_EQ(*found, format) << text;
  }
}

TEST(TraceFormat, RefusesAnUnknownFirstLineAndAnEmptyFile) {
  EXPECT_EQ(detect_format("", "t").error().message, "t: is empty, expected a job table or a trace");
  EXPECT_EQ(detect_format("\n \n", "t").error().message,
            "t: is empty, expected a job table or a trace");
  EXPECT_NE(detect_format("job_id,context_tokens\n", "t")
                .error()
                .message.find("t:1: found 'job_id,context_tokens'"),
            std::string::npos);
  EXPECT_EQ(parse_trace_format("swff").error().message,
            "unknown format 'swff'; did you mean 'swf'?");
}

TEST(TraceCsv, ReadsKeepsAndDrops) {
  const auto trace = parse_trace_csv(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count,kind,source_class\n"
      "b,5,10.5,0.32,1,unknown,openb:BE:running\n"
      "a,0,20,1,8,training,x:censored\n"
      "c,6,0,1,1,inference,\n"
      "d,6,,1,1,inference,\n"
      "e,6,3,0,1,inference,\n"
      "f,6,3,1,0,inference,\n",
      "t.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2u);
  EXPECT_EQ(trace->jobs[0].id, "a");
  EXPECT_EQ(trace->jobs[0].gpu_count, 8);
  EXPECT_EQ(trace->jobs[0].kind, TraceKind::kTraining);
  EXPECT_EQ(trace->jobs[1].submit_us, 5'000'000);
  EXPECT_EQ(trace->jobs[1].duration_us, 10'500'000);
  EXPECT_EQ(trace->jobs[1].gpu_fraction, .32);
  EXPECT_EQ(trace->jobs[1].label, "openb:BE:running");
  EXPECT_EQ(trace->report.rows_read, 6u);
  EXPECT_EQ(trace->report.kept.rows, 2u);
  EXPECT_EQ(trace->report.dropped.text(), "2 no run time, 2 asks for no GPU");
}

TEST(TraceCsv, RefusesMalformedRows) {
  const auto error = [](const std::string& row) {
    const auto trace = parse_trace_csv(
        "job_id,submit_s,duration_s,gpu_fraction,gpu_count,kind\n" + row + "\n", "t.csv");
    return trace ? "no error" : trace.error().message;
  };
  EXPECT_EQ(error("a,-1,3,1,1,unknown"),
            "t.csv:2: submit_s: found '-1', expected seconds from 0 to 1e10");
  EXPECT_EQ(error("a,0,-3,1,1,unknown"),
            "t.csv:2: duration_s: found '-3', expected seconds from 0 to 1e10");
  EXPECT_EQ(error("a,0,nan,1,1,unknown"),
            "t.csv:2: duration_s: found 'nan', expected seconds from 0 to 1e10");
  EXPECT_EQ(error("a,0,3,1.5,1,unknown"),
            "t.csv:2: gpu_fraction: found '1.5', expected a number from 0 to 1");
  EXPECT_EQ(error("a,0,3,.5,2,unknown"),
            "t.csv:2: gpu_fraction: found '.5', expected 1, as gpu_count is over 1");
  EXPECT_EQ(error("a,0,3,1,1.5,unknown"),
            "t.csv:2: gpu_count: found '1.5', expected a whole number");
  EXPECT_EQ(error("a,0,3,1,1,magic"),
            "t.csv:2: kind: found 'magic', expected training, inference or unknown");
  EXPECT_EQ(error("a,0,3,1,1"), "t.csv:2: 5 fields, expected 6 as in the header");
  EXPECT_EQ(error("a,0,0,1,1,unknown"),
            "t.csv: has no job to run among 1 rows; dropped: 1 no run time");
}

TEST(Trace, MakesRepeatedIdsUnique) {
  const auto trace = parse_trace_csv(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count\n7,0,1,1,1\n7#2,1,1,1,1\n7,2,1,1,1\n7,3,1,"
      "1,1\n",
      "t.csv");
  ASSERT_TRUE(trace);
  std::string ids;
  for (const TraceJob& job : trace->jobs) ids += job.id + " ";
  EXPECT_EQ(ids, "7 7#2 7#3 7#4 ");
}

// Rows in the form of the published pod list.
TEST(TraceOpenb, ReadsThePodList) {
  const auto trace = parse_trace_openb(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
      "time,scheduled_time\n"
      "pod-0,12000,16384,1,1000,,LS,Running,0,12902960,0\n"
      "pod-1,8000,30517,1,460,V100M16|V100M32,BE,Running,9949982,9978759,9949984\n"
      "pod-2,20000,65536,0,0,,LS,Running,2759674,12902960,2759676\n"
      "pod-3,11908,47104,1,1000,,BE,Pending,10001278,10001403,\n"
      "pod-4,88000,327680,8,1000,,Burstable,Failed,9437497,9437497,9437497\n"
      "pod-5,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497\n",
      "pods.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 3u);
  EXPECT_EQ(trace->jobs[0].label, "LS:Running:censored");
  EXPECT_EQ(trace->jobs[1].id, "pod-5");
  EXPECT_EQ(trace->jobs[1].gpu_count, 8);
  const TraceJob& pod = trace->jobs[2];
  EXPECT_EQ(pod.submit_us, 9'949'982 * kSecondUs);
  EXPECT_EQ(pod.duration_us, 28'775 * kSecondUs);
  EXPECT_EQ(pod.gpu_fraction, .46);
  EXPECT_EQ(pod.memory_mib, 0);
  EXPECT_EQ(pod.label, "BE:Running");
  EXPECT_EQ(trace->report.dropped.text(), "1 asks for no GPU, 1 never scheduled, 1 no run time");
}

TEST(TraceOpenb, RefusesMalformedRows) {
  const auto error = [](const std::string& row) {
    const auto trace = parse_trace_openb(
        "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n" + row + "\n",
        "p.csv");
    return trace ? "no error" : trace.error().message;
  };
  EXPECT_EQ(error("a,1,1001,0,9,1"),
            "p.csv:2: gpu_milli: found '1001', expected a number from 0 to 1000");
  EXPECT_EQ(error("a,1,500,0,x,1"),
            "p.csv:2: deletion_time: found 'x', expected seconds from 0 to 1e10");
  EXPECT_EQ(error("a,2,500,0,9,1"),
            "p.csv:2: gpu_milli: found '500', expected 1000, as num_gpu is over 1");
  EXPECT_EQ(parse_trace_openb("name,num_gpu\n", "p.csv").error().message,
            "p.csv:1: column gpu_milli is missing from the header");
}

std::string swf_row(const std::string& submit, const std::string& run, const std::string& procs,
                    const std::string& status = "1") {
  return "7 " + submit + " -1 " + run + " " + procs + " -1 -1 64 -1 -1 " + status +
         " 1 1 -1 3 -1 -1 -1\n";
}

TEST(TraceSwf, CountsProcessorsAsTheHeaderSays) {
  const std::string note = "; Note: 1 \"processor\" = 1/100 GPU\n";
  const auto trace =
      parse_trace_swf(note + swf_row("5", "60", "32") + swf_row("6", "60", "800"), "t.swf", {});
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].gpu_fraction, .32);
  EXPECT_EQ(trace->jobs[0].gpu_count, 1);
  EXPECT_EQ(trace->jobs[0].label, "queue 3");
  EXPECT_EQ(trace->jobs[1].gpu_fraction, 1);
  EXPECT_EQ(trace->jobs[1].gpu_count, 8);
  EXPECT_EQ(trace->jobs[1].id, "7#2");
  // The user's word goes before the header's; without either a processor is a GPU.
  EXPECT_EQ(parse_trace_swf(note + swf_row("5", "60", "32"), "t.swf", 64)->jobs[0].gpu_fraction,
            .5);
  EXPECT_EQ(parse_trace_swf(swf_row("5", "60", "32"), "t.swf", {})->jobs[0].gpu_count, 32);
  // Asked for, where none were allocated.
  EXPECT_EQ(parse_trace_swf(swf_row("5", "60", "-1"), "t.swf", {})->jobs[0].gpu_count, 64);
}

TEST(TraceSwf, DropsWhatDidNotRun) {
  const auto trace =
      parse_trace_swf(swf_row("5", "60", "1") + swf_row("5", "0", "1") + swf_row("5", "-1", "1") +
                          swf_row("-1", "9", "1") + swf_row("5", "9", "1", "3"),
                      "t.swf", {});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->report.dropped.text(),
            "2 no run time, 1 no submit time, 1 part of a checkpointed job");
}

TEST(TraceSwf, PutsTheFirstJobAtItsHourOfDay) {
  const std::string row = swf_row("60", "9", "1");
  const auto local =
      parse_trace_swf("; StartTime: Fri Oct 01 13:00:03 PDT 1993\n" + row, "t.swf", {});
  EXPECT_EQ(local->jobs[0].submit_us, 13 * kHourUs + 63 * kSecondUs);
  EXPECT_TRUE(local->report.hour_known);
  const auto zone =
      parse_trace_swf("; UnixStartTime: 90000\n; TimeZone: -7200\n" + row, "t.swf", {});
  EXPECT_EQ(zone->jobs[0].submit_us, 82'800 * kSecondUs + kMinuteUs);
  const auto unknown = parse_trace_swf(row, "t.swf", {});
  EXPECT_EQ(unknown->jobs[0].submit_us, kMinuteUs);
  EXPECT_FALSE(unknown->report.hour_known);
}

TEST(TraceSwf, RefusesMalformedRows) {
  const auto error = [](const std::string& text) {
    const auto trace = parse_trace_swf(text, "t.swf", {});
    return trace ? "no error" : trace.error().message;
  };
  EXPECT_EQ(error("; x\n1 2 3\n"), "t.swf:2: 3 fields, expected 18");
  EXPECT_EQ(error(swf_row("5", "6o", "1")), "t.swf:1: run time: found '6o', expected a number");
  EXPECT_EQ(error(swf_row("nan", "60", "1")),
            "t.swf:1: submit time: found 'nan', expected a number");
  EXPECT_EQ(error(swf_row("-5", "60", "1")),
            "t.swf:1: submit time: found '-5', expected seconds from 0, or -1");
  EXPECT_EQ(error(swf_row("5", "1e12", "1")),
            "t.swf:1: run time: found '1000000000000', expected at most 1e10 seconds");
  EXPECT_EQ(error("; only a header\n"), "t.swf: has no jobs");
}

const std::string kSacct = "JobID|Partition|Submit|Start|End|Elapsed|State|AllocTRES|ReqTRES\n";

TEST(TraceSacct, ReadsJobsAndDropsTheRest) {
  const auto trace = parse_trace_sacct(
      kSacct +
          "101|gpu|2024-02-28T23:50:00|2024-02-28T23:55:00|2024-02-29T00:55:00|01:00:00|COMPLETED|"
          "billing=8,cpu=8,gres/gpu=1,mem=64G,node=1|cpu=8,gres/gpu=1\n"
          "101.batch||2024-02-28T23:55:00|2024-02-28T23:55:00|2024-02-29T00:55:00|01:00:00|"
          "COMPLETED|cpu=8|\n"
          "102_7|mig|2024-03-01T06:00:00|2024-03-01T06:00:10|2024-03-01T06:10:10|00:10:00|TIMEOUT|"
          "cpu=4,gres/gpu:a100_3g.20gb=1,gres/gpu=1|\n"
          "102_[8-9]|mig|2024-03-01T06:00:00|Unknown|Unknown|00:00:00|PENDING||cpu=4\n"
          "103+0|gpu|2024-03-01T07:00:00|2024-03-01T07:00:00|2024-03-03T08:00:00|2-01:00:00|"
          "CANCELLED by 1000|"
          "gres/gpu:a100=2,gres/gpu=2|\n"
          "104|cpu|2024-03-01T07:00:00|2024-03-01T07:00:00|2024-03-01T08:00:00|01:00:00|FAILED|cpu="
          "2|cpu=2\n"
          "105|gpu|2024-03-01T07:00:00|2024-03-01T07:00:00|Unknown|03:00:00|RUNNING|gres/gpu=1|\n"
          "106|gpu|2024-03-01T07:00:00|None|2024-03-01T08:00:00|00:00:00|CANCELLED by "
          "0||gres/gpu=1\n"
          "107|gpu|2024-03-01T07:00:00|2024-03-01T07:00:00|2024-03-01T08:00:00|01:00:00|COMPLETED|"
          "cpu=2,gres/shard=4|\n",
      "sacct.txt");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 3u);
  // The clock starts at the midnight before the first job.
  EXPECT_EQ(trace->jobs[0].submit_us, 23 * kHourUs + 50 * kMinuteUs);
  EXPECT_EQ(trace->jobs[0].duration_us, kHourUs);
  EXPECT_EQ(trace->jobs[0].label, "gpu");
  EXPECT_EQ(trace->jobs[1].id, "102_7");
  EXPECT_EQ(trace->jobs[1].submit_us, 2 * kDayUs + 6 * kHourUs);  // 2024 is a leap year.
  EXPECT_EQ(trace->jobs[1].gpu_fraction, 3 / 7.0);
  EXPECT_EQ(trace->jobs[1].gpu_count, 1);
  EXPECT_GT(trace->jobs[1].memory_mib, 19'000);
  EXPECT_LE(trace->jobs[1].memory_mib, 20'480);
  EXPECT_EQ(trace->jobs[2].id, "103+0");
  EXPECT_EQ(trace->jobs[2].duration_us, 49 * kHourUs);
  EXPECT_EQ(trace->jobs[2].gpu_count, 2);
  EXPECT_EQ(trace->report.dropped.text(),
            "1 job step, 2 not finished, 1 asks for no GPU, 1 no run time, 1 asks for shards, "
            "whose size sacct "
            "does not say");
  EXPECT_TRUE(trace->report.hour_known);
}

TEST(TraceSacct, TakesTheRunTimeFromWhatIsThere) {
  const auto raw =
      parse_trace_sacct("JobIDRaw|Submit|ElapsedRaw|ReqTRES\n5|1700000000|90|gres/gpu=1\n", "s");
  ASSERT_TRUE(raw) << raw.error().message;
  EXPECT_EQ(raw->jobs[0].duration_us, 90 * kSecondUs);
  EXPECT_EQ(raw->jobs[0].submit_us, 1'700'000'000 % 86'400 * kSecondUs);
  const auto dates = parse_trace_sacct(
      "JobID|Submit|Start|End|AllocTRES|\n5|2024-01-01T00:00:00|2024-01-01T00:00:05|2024-01-01T00:"
      "01:00|gres/gpu=1|\n",
      "s");
  ASSERT_TRUE(dates) << dates.error().message;
  EXPECT_EQ(dates->jobs[0].duration_us, 55 * kSecondUs);
}

TEST(TraceSacct, RefusesMalformedRows) {
  const auto error = [](const std::string& row) {
    const auto trace = parse_trace_sacct("JobID|Submit|Elapsed|AllocTRES\n" + row + "\n", "s");
    return trace ? "no error" : trace.error().message;
  };
  const std::string good = "5|2024-01-01T00:00:00|01:00:00|gres/gpu=1";
  EXPECT_EQ(error(good), "no error");
  EXPECT_EQ(error(good + "|x"), "s:2: 5 fields, expected 4 as in the header");
  EXPECT_EQ(error("job|2024-01-01T00:00:00|01:00:00|gres/gpu=1"),
            "s:2: JobID: found 'job', expected a number such as 123, 123_4 or 123.batch");
  EXPECT_EQ(
      error("5|2023-02-29T00:00:00|01:00:00|gres/gpu=1"),
      "s:2: Submit: found '2023-02-29T00:00:00', expected a date such as 2024-03-01T12:34:56");
  EXPECT_EQ(error("5|2024-01-01T00:00:00|1 hour|gres/gpu=1"),
            "s:2: Elapsed: found '1 hour', expected [days-]hours:minutes:seconds");
  EXPECT_EQ(
      error("5|2024-01-01T00:00:00|01:00:00|gres/gpu=x"),
      "s:2: AllocTRES: found 'gres/gpu=x', expected resources such as cpu=8,gres/gpu=1,mem=64G");
  EXPECT_EQ(parse_trace_sacct("JobID|Submit|Elapsed\n", "s").error().message,
            "s:1: column AllocTRES (or ReqTRES) is missing from the header");
  EXPECT_EQ(parse_trace_sacct("JobID|Submit|Start|AllocTRES\n", "s").error().message,
            "s:1: column ElapsedRaw (or Elapsed, or Start and End) is missing from the header");
}

TEST(TraceSacct, ReadsStartTimesLimitsAndWhoSubmitted) {
  const auto trace = parse_trace_sacct(
      "JobID|User|Account|Partition|Submit|Start|ElapsedRaw|Timelimit|State|AllocTRES\n"
      "1|ann|bio|a100|2024-03-01T10:00:00|2024-03-01T10:30:00|3600|02:00:00|COMPLETED|gres/gpu=1\n"
      "2|bob|phy|h100|2024-03-01T11:00:00|Unknown|3600|UNLIMITED|COMPLETED|gres/gpu=1\n"
      "3|bob|phy|h100|2024-03-01T11:00:00|2024-03-01T11:00:00|7200|1-00:00:00|RUNNING|gres/gpu=2\n",
      "s");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2u);
  const TraceJob& first = trace->jobs[0];
  EXPECT_EQ(first.submit_us, 10 * kHourUs);
  EXPECT_EQ(first.start_us, 10 * kHourUs + 30 * kMinuteUs);
  EXPECT_EQ(first.estimate_us, 2 * kHourUs);
  EXPECT_EQ(first.user, "ann");
  EXPECT_EQ(first.account, "bio");
  EXPECT_EQ(first.partition, "a100");
  EXPECT_EQ(trace->jobs[1].start_us, -1);
  EXPECT_EQ(trace->jobs[1].estimate_us, 0);
  // A job that still runs is dropped with what it used so far.
  EXPECT_DOUBLE_EQ(trace->report.dropped.of(LossReason::kNotFinished).gpu_hours, 4);
  const auto bad = parse_trace_sacct(
      "JobID|Submit|ElapsedRaw|Timelimit|AllocTRES\n1|2024-03-01T10:00:00|9|soon|gres/gpu=1\n",
      "s");
  EXPECT_EQ(bad.error().message,
            "s:2: Timelimit: found 'soon', expected [days-]hours:minutes:seconds, UNLIMITED or "
            "Partition_Limit");
}

TEST(TraceSacct, AsksForParsable2WhereColumnsAreAligned) {
  const char* aligned =
      "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
      "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
      "1                  wrap       a100        bio          8  COMPLETED      0:0 \n";
  const auto detected = detect_format(aligned, "s");
  ASSERT_FALSE(detected);
  EXPECT_NE(detected.error().message.find("--parsable2"), std::string::npos)
      << detected.error().message;
  const auto read = parse_trace_sacct(aligned, "s");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("--parsable2"), std::string::npos) << read.error().message;
}

TEST(TraceCsv, ReadsKnownTimesAndShortKinds) {
  const auto trace = parse_trace_csv(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count,kind,start_s,deadline_s,estimate_s\n"
      "a,10,5,1,1,train,12,40,6\nb,11,5,1,1,infer,,,\n",
      "t.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].kind, TraceKind::kTraining);
  EXPECT_EQ(trace->jobs[0].start_us, 12 * kSecondUs);
  EXPECT_EQ(trace->jobs[0].deadline_us, 40 * kSecondUs);
  EXPECT_EQ(trace->jobs[0].estimate_us, 6 * kSecondUs);
  EXPECT_EQ(trace->jobs[1].kind, TraceKind::kInference);
  EXPECT_EQ(trace->jobs[1].start_us, -1);
  EXPECT_EQ(trace->jobs[1].deadline_us, -1);
  const auto early = parse_trace_csv(
      "job_id,submit_s,duration_s,gpu_fraction,gpu_count,deadline_s\na,10,5,1,1,9\n", "t.csv");
  EXPECT_EQ(early.error().message,
            "t.csv:2: deadline_s: found '9', expected seconds from submit_s to 1e10, or nothing");
}

TEST(TraceSwf, ReadsWaitsAndTimesAskedFor) {
  const auto trace =
      parse_trace_swf("1 100 20 50 1 -1 -1 1 90 -1 1 7 3 -1 2 5 -1 -1\n", "s", std::nullopt);
  ASSERT_TRUE(trace) << trace.error().message;
  const TraceJob& job = trace->jobs[0];
  EXPECT_EQ(job.start_us, 120 * kSecondUs);
  EXPECT_EQ(job.estimate_us, 90 * kSecondUs);
  EXPECT_EQ(job.user + "/" + job.account + "/" + job.partition, "7/3/5");
}

// Numbering each repeated id from 2 again took time in the square of their number.
TEST(Trace, NumbersManyRowsOfOneIdInLinearTime) {
  std::string text = "job_id,submit_s,duration_s,gpu_fraction,gpu_count\n";
  for (int i = 0; i < 100'000; ++i) text += "7,0,1,1,1\n";
  const auto trace = parse_trace_csv(text, "t.csv");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs.back().id, "7#100000");
}

TEST(Trace, RefusesRowsOfVeryManyFields) {
  const std::string wide(200'000, ',');
  EXPECT_EQ(detect_format("job_id" + wide, "t").error().message,
            "t:1: found more than 4096 fields, expected at most 4096");
  EXPECT_EQ(parse_trace_csv("job_id" + wide, "t").error().message,
            "t:1: found more than 4096 fields, expected at most 4096");
  const std::string bars(200'000, '|');
  EXPECT_EQ(parse_trace_sacct("JobID" + bars, "t").error().message,
            "t:1: found more than 4096 fields, expected at most 4096");
}

}  // namespace
}  // namespace smartmig
