#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/cli.h"
#include "workload/job_table.h"

namespace smartmig {
namespace {

class WorkloadCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("smartmig-workload-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream(path("trace.csv")) << "job_id,submit_s,duration_s,gpu_fraction,gpu_count\n"
                                        "a,0,10,.4,1\nb,60,10,1,2\nc,70,0,1,1\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  int run(const std::string& line) {
    CLI::App app;
    Action action;
    add_workload(app, action);
    app.parse("workload " + line, false);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = action();
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return status;
  }

  std::filesystem::path folder_;
  std::string out_, err_;
};

TEST_F(WorkloadCommandTest, GeneratesATableThatStatsReadsBack) {
  ASSERT_EQ(
      run("generate --workload paper-fixed --count 30 --json --out-file " + path("jobs.csv.gz")), 0)
      << err_;
  EXPECT_EQ(nlohmann::json::parse(out_)["jobs"], 30);
  ASSERT_EQ(run("stats --json " + path("jobs.csv.gz")), 0) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_)["jobs"], 30);
  ASSERT_EQ(run("generate --workload paper-fixed --count 30"), 0);
  EXPECT_EQ(out_, *read_file(path("jobs.csv.gz")));  // The same bytes, whichever way.
}

TEST_F(WorkloadCommandTest, ImportsATraceAndReportsOnStandardError) {
  ASSERT_EQ(run("import --multi-gpu one " + path("trace.csv")), 0);
  const auto table = parse_job_table(out_, "out");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->jobs.size(), 2u);
  EXPECT_NE(err_.find("rows: 3 read, 2 kept"), std::string::npos) << err_;
  ASSERT_EQ(run("stats " + path("trace.csv")), 0);
  EXPECT_NE(out_.find("dropped 1: asks for several GPUs"), std::string::npos) << out_;
  EXPECT_EQ(err_, "");
}

TEST_F(WorkloadCommandTest, WritesNothingWhereTheInputIsBad) {
  EXPECT_EQ(run("import --json " + path("trace.csv")), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(run("import --deadlines 3 --out-file " + path("x.csv") + " " + path("trace.csv")), 2);
  EXPECT_FALSE(std::filesystem::exists(path("x.csv")));
  EXPECT_EQ(run("import --out-file " + path("no/folder/x.csv") + " " + path("trace.csv")), 2);
  EXPECT_EQ(run("generate --rate 0"), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(run("stats " + path("absent.csv")), 2);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
}

}  // namespace
}  // namespace smartmig
