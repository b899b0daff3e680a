#include "workload/job_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/random.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

const std::string kHeader = "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s";

JobTable parse(const std::string& text) {
  auto table = parse_job_table(text, "t.csv");
  EXPECT_TRUE(table) << table.error().message;
  return table ? std::move(*table) : JobTable{};
}

// The message for a table of these rows under the plain header.
std::string rows_error_of(const std::string& rows, const std::string& more_columns = "") {
  const auto table = parse_job_table(kHeader + more_columns + "\n" + rows, "t.csv");
  return table ? "no error" : table.error().message;
}

TEST(JobTable, ReadsEveryColumn) {
  const JobTable table = parse(kHeader +
                               ",memory_mib,profile,preemptible,checkpoint_s,restore_s\n"
                               "a,1.5,100,training,70,35,,17.5,10,4864,bert-training,no,2.5,0\n"
                               "b,2,2,inference,,,,,3,,,,,\n");
  ASSERT_EQ(table.jobs.size(), 2u);
  const Job& a = table.jobs[0];
  EXPECT_EQ(table.id(0), "a");
  EXPECT_EQ(a.submit_us, 1'500'000);
  EXPECT_EQ(a.deadline_us, 100'000'000);
  EXPECT_EQ(a.kind, JobKind::kTraining);
  EXPECT_EQ(a.time_us, (std::array<TimeUs, 5>{70'000'000, 35'000'000, 0, 17'500'000, 10'000'000}));
  EXPECT_EQ(a.memory_mib, 4864);
  EXPECT_EQ(Catalogue::shipped().profiles()[a.profile].name, "bert-training");
  EXPECT_EQ(a.preemptible, Preemptible::kNo);
  EXPECT_EQ(a.checkpoint_ms, 2500);
  EXPECT_EQ(a.restore_ms, 0);
  const Job& b = table.jobs[1];
  EXPECT_EQ(b.kind, JobKind::kInference);
  EXPECT_EQ(b.memory_mib, 0);
  EXPECT_EQ(b.profile, kNoProfile);
  EXPECT_EQ(b.preemptible, Preemptible::kByKind);
  EXPECT_EQ(b.checkpoint_ms, kByCostModel);
  EXPECT_NEAR(table.nominal_days, .5 / 86400, 1e-15);
}

TEST(JobTable, SortsBySubmitAndKeepsTheOrderOfEqualTimes) {
  const JobTable table = parse(kHeader + ",user\n" +
                               "late,9,10,training,1,1,1,1,1,u0\n"
                               "x,3,10,training,1,1,1,1,1,u1\n"
                               "y,3,10,training,2,1,1,1,1,u2\n"
                               "early,1,10,training,1,1,1,1,1,u3\n");
  std::string order;
  for (JobIndex i = 0; i < 4; ++i) order += table.id(i) + ":" + std::string(table.extra[i]) + " ";
  EXPECT_EQ(order, "early:u3 x:u1 y:u2 late:u0 ");
  EXPECT_EQ(table.jobs[2].time_us[0], 2'000'000);
}

TEST(JobTable, KeepsColumnsItDoesNotKnow) {
  const std::string text =
      "user,id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s,\"a \"\"note\"\"\"\n"
      "eve,a,0,10,training,1,1,1,1,1,\"x, y\"\n";
  const JobTable table = parse(text);
  EXPECT_EQ(format_job_table(table),
            kHeader + ",user,\"a \"\"note\"\"\"\na,0,10,training,1,1,1,1,1,eve,\"x, y\"\n");
}

TEST(JobTable, WritesWhatItReads) {
  Random random(3, "job-table-test");
  std::string text = kHeader + ",memory_mib,profile,preemptible,checkpoint_s,restore_s,tag\n";
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t submit = random.below(1'000'000'000);
    text += fmt::format("job {},{}.{:06},{},{}", i, submit / 1000, random.below(1'000'000),
                        submit + 7, random.below(2) ? "training" : "inference");
    for (int k = 0; k < 4; ++k) {
      text += random.below(4)
                  ? fmt::format(",{}", static_cast<double>(random.below(1'000'000) + 1) / 1e4)
                  : ",";
    }
    text +=
        fmt::format(",{},{},{},{},{},{},{}\n", random.below(100) + 1, random.below(40000),
                    random.below(2) ? "bert-inference" : "", random.below(2) ? "yes" : "",
                    random.below(9), random.below(9), random.below(2) ? "\"q\"\"uoted\"" : "plain");
  }
  const JobTable table = parse(text);
  const std::string once = format_job_table(table);
  const JobTable again = parse(once);
  EXPECT_EQ(format_job_table(again), once);
  ASSERT_EQ(again.jobs.size(), table.jobs.size());
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    ASSERT_EQ(again.jobs[i].submit_us, table.jobs[i].submit_us);
    ASSERT_EQ(again.jobs[i].deadline_us, table.jobs[i].deadline_us);
    ASSERT_EQ(again.jobs[i].time_us, table.jobs[i].time_us);
    ASSERT_EQ(again.jobs[i].restore_ms, table.jobs[i].restore_ms);
    ASSERT_EQ(again.extra[i], table.extra[i]);
  }
}

TEST(JobTable, NamesJobsWithoutIdsByTheirNumber) {
  JobTable table;
  table.jobs.resize(2);
  for (Job& job : table.jobs) job.time_us.fill(kSecondUs);
  EXPECT_EQ(format_job_table(table),
            kHeader + "\n0,0,0,inference,1,1,1,1,1\n1,0,0,inference,1,1,1,1,1\n");
}

TEST(JobTable, RefusesBadFieldsWithTheirPlace) {
  EXPECT_EQ(rows_error_of("a,nan,3,training,1,1,1,1,1\n"),
            "t.csv:2: submit_s: found 'nan', expected seconds from 0 to 1e10");
  EXPECT_EQ(rows_error_of("a,1,inf,training,1,1,1,1,1\n"),
            "t.csv:2: deadline_s: found 'inf', expected seconds from 0 to 1e10");
  EXPECT_EQ(rows_error_of("a,-1,3,training,1,1,1,1,1\n"),
            "t.csv:2: submit_s: found '-1', expected seconds from 0 to 1e10");
  EXPECT_EQ(rows_error_of("a,4,3,training,1,1,1,1,1\n"),
            "t.csv:2: deadline_s: found '3', expected at least submit_s, 4");
  const std::string time =
      "expected seconds from 0.000001 to 1e10, or nothing where it does not run";
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,0,1,1\n"), "t.csv:2: p3g_s: found '0', " + time);
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,1,0.0000004,1\n"),
            "t.csv:2: p4g_s: found '0.0000004', " + time);
  EXPECT_EQ(rows_error_of("a,1,3,training,1e11,1,1,1,1\n"),
            "t.csv:2: p1g_s: found '1e11', " + time);
  EXPECT_EQ(rows_error_of("a,1,3,trainer,1,1,1,1,1\n"),
            "t.csv:2: kind: found 'trainer', expected training or inference");
  EXPECT_EQ(rows_error_of("a,1,3,training,,,,,\n"),
            "t.csv:2: p7g_s: found '', expected a time on one size at least");
  EXPECT_EQ(rows_error_of(",1,3,training,1,1,1,1,1\n"), "t.csv:2: id: found '', expected a name");
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,1,1,1,99999999\n", ",memory_mib"),
            "t.csv:2: memory_mib: found '99999999', expected a number from 0 to 16777216");
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,1,1,1,maybe\n", ",preemptible"),
            "t.csv:2: preemptible: found 'maybe', expected yes, no or nothing");
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,1,1,1,-2\n", ",restore_s"),
            "t.csv:2: restore_s: found '-2', expected a number from 0 to 2000000");
}

TEST(JobTable, SuggestsTheNearestProfile) {
  EXPECT_EQ(
      rows_error_of("a,1,3,training,1,1,1,1,1,bert-trainin\n", ",profile"),
      "t.csv:2: profile: found 'bert-trainin', expected a profile of the catalogue; did you mean "
      "'bert-training'?");
}

TEST(JobTable, RefusesADuplicatedIdAndNamesBothLines) {
  EXPECT_EQ(rows_error_of(
                "a,1,3,training,1,1,1,1,1\n\nb,1,3,training,1,1,1,1,1\na,1,3,training,1,1,1,1,1\n"),
            "t.csv:5: id: found 'a', expected an id of its own; line 2 has it");
}

TEST(JobTable, FindsTheOneDuplicateAmongManyIds) {
  // So many that some 32-bit hashes are equal (10 pairs to expect), which must not count as equal
  // ids.
  std::string rows;
  for (int i = 0; i < 300'000; ++i) rows += fmt::format("{},1,3,training,1,1,1,1,1\n", i);
  EXPECT_EQ(rows_error_of(rows), "no error");
  EXPECT_EQ(rows_error_of(rows + "31234,1,3,training,1,1,1,1,1\n"),
            "t.csv:300002: id: found '31234', expected an id of its own; line 31236 has it");
}

TEST(JobTable, RefusesFilesThatAreNoTable) {
  EXPECT_EQ(parse_job_table("", "t.csv").error().message,
            "t.csv: is empty, expected a header line");
  EXPECT_EQ(rows_error_of(""), "t.csv: has no jobs, only a header");
  EXPECT_EQ(rows_error_of("a,1,3,training,1,1,1,1\n"),
            "t.csv:2: 8 fields, expected 9 as in the header");
  EXPECT_EQ(parse_job_table("id,submit_s,kind\na,1,training\n", "t.csv").error().message,
            "t.csv:1: column deadline_s is missing from the header");
  EXPECT_NE(read_job_table("/nonexistent/t.csv")
                .error()
                .message.find("/nonexistent/t.csv: cannot be read"),
            std::string::npos);
}

TEST(JobTable, ReadsGzipAndRefusesATruncatedOne) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("smartmig-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "jobs.csv.gz").string();
  std::string text = kHeader + "\n";
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("{},{},99999,training,{},2,3,4,5\n", i, i, i * 7 + 1);
  ASSERT_TRUE(write_file(path, text));
  const auto table = read_job_table(path);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->jobs.size(), 1000u);
  EXPECT_EQ(format_job_table(*table), text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_EQ(read_job_table(path).error().message, path + ": gzip is truncated");
  std::filesystem::remove_all(folder);
}

TEST(JobTable, KeepsWhatWasAskedFor) {
  const std::string text = kHeader +
                           ",request\n"
                           "a,1,3,training,1,1,1,1,1,0.428571\n"
                           "b,2,3,training,1,1,1,1,1,1\n"
                           "c,3,3,training,1,1,1,1,1,\n";
  const JobTable table = parse(text);
  EXPECT_EQ(table.jobs[0].request_millionths, 428571);
  EXPECT_EQ(table.jobs[1].request_millionths, kWholeGpu);
  EXPECT_EQ(table.jobs[2].request_millionths, 0);
  EXPECT_EQ(format_job_table(table), text);
  for (const char* share : {"0", "1.000001", "-1", "half"}) {
    EXPECT_EQ(
        rows_error_of(fmt::format("a,1,3,training,1,1,1,1,1,{}\n", share), ",request"),
        fmt::format("t.csv:2: request: found '{}', expected a share of a GPU from 0.000001 to "
                    "1, or nothing",
                    share));
  }
}

TEST(JobTable, ReadsEstimatesRealTimesAndShortKinds) {
  const std::string text =
      "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s,estimate_s,start_s,end_s\n"
      "a,1,95,train,180,90,60,45,25,50,2,30\nb,2,95,infer,180,90,60,45,25,,,\n";
  const auto table = parse_job_table(text, "t");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->jobs[0].kind, JobKind::kTraining);
  EXPECT_EQ(table->jobs[1].kind, JobKind::kInference);
  EXPECT_DOUBLE_EQ(belief(table->jobs[0]), 2);
  EXPECT_DOUBLE_EQ(belief(table->jobs[1]), 1);
  EXPECT_EQ(table->ran_at[0].start_us, 2 * kSecondUs);
  EXPECT_EQ(table->ran_at[1].end_us, -1);
  const std::string written = format_job_table(*table);
  EXPECT_EQ(format_job_table(*parse_job_table(written, "t")), written);
  const auto error = [](const std::string& end) {
    const auto bad = parse_job_table(
        "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s,estimate_s,start_s,end_s\n"
        "a,1,95,train,180,90,60,45,25," +
            end + "\n",
        "t");
    return bad ? "no error" : bad.error().message;
  };
  EXPECT_EQ(error("0,,"),
            "t:2: estimate_s: found '0', expected seconds from 0.000001 to 1e10, or "
            "nothing");
  EXPECT_EQ(error(",0,9"), "t:2: start_s: found '0', expected seconds from submit_s to 1e10");
  EXPECT_EQ(error(",5,4"), "t:2: end_s: found '4', expected seconds from start_s to 1e10");
}

}  // namespace
}  // namespace smartmig
