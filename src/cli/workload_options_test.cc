#include "cli/workload_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

namespace smartmig {
namespace {

class WorkloadOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("smartmig-options-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "table.csv")
        << "id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s\na,0,9,training,7,4,3,2,1\n";
    std::ofstream(folder_ / "trace.csv")
        << "job_id,submit_s,duration_s,gpu_fraction,gpu_count\na,0,10,.4,1\nb,60,10,1,2\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The jobs for a command line, in which T and J stand for a trace and a job table.
  Result<JobTable> jobs(std::string line, std::uint64_t day = 0) {
    for (const auto& [word, file] :
         {std::pair(" T", "/trace.csv"), std::pair(" J", "/table.csv")}) {
      if (const auto at = line.find(word); at != std::string::npos) {
        line.replace(at, 2, " " + folder_.string() + file);
      }
    }
    CLI::App app;
    options_ = {};
    add_workload_options(app, options_);
    app.parse(line, false);
    return make_jobs(options_, day);
  }
  std::string error(const std::string& line) {
    const auto made = jobs(line);
    return made ? "no error" : made.error().message;
  }

  std::filesystem::path folder_;
  WorkloadOptions options_;
};

TEST_F(WorkloadOptionsTest, DefaultsToThePapersDay) {
  const auto made = jobs("");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(options_.is_paper_generator());
  EXPECT_NEAR(static_cast<double>(made->jobs.size()), 4008,
              260);  // Expected arrivals, four deviations.
  EXPECT_EQ(made->nominal_days, 1);
  EXPECT_EQ(jobs("--workload paper")->jobs.size(), made->jobs.size());
  EXPECT_TRUE(options_.is_paper_generator());
}

TEST_F(WorkloadOptionsTest, DrawsOtherJobsOnAnotherDayAndWithAnotherSeed) {
  const auto first = jobs("")->jobs[0].submit_us;
  EXPECT_EQ(jobs("--seed 1")->jobs[0].submit_us, first);
  EXPECT_NE(jobs("", 1)->jobs[0].submit_us, first);
  EXPECT_NE(jobs("--seed 2")->jobs[0].submit_us, first);
}

TEST_F(WorkloadOptionsTest, HandsEveryGeneratorOptionOn) {
  EXPECT_EQ(jobs("--workload paper-fixed")->jobs.size(), 50u);
  EXPECT_FALSE(options_.is_paper_generator());
  EXPECT_EQ(jobs("--workload paper-fixed --rate 8 --count 70")->jobs.size(), 70u);
  EXPECT_EQ(jobs("--days 3 --rate 1")->nominal_days, 3);
  EXPECT_GT(jobs("--rate 24")->jobs.size(), jobs("--rate 6")->jobs.size() * 3);
  const auto training = jobs("--training-share 1 --speeds linear --deadlines 2:2");
  for (const Job& job : training->jobs) {
    ASSERT_EQ(job.kind, JobKind::kTraining);
    ASSERT_NEAR(static_cast<double>(job.time_us[0]) / static_cast<double>(job.time_us[4]), 7, 1e-6);
    ASSERT_NEAR(to_s(job.deadline_us - job.submit_us), 2 * to_s(job.time_us[4]), 2e-6);
  }
}

TEST_F(WorkloadOptionsTest, ReadsAWorkloadFileForAFleet) {
  const std::string path = (folder_ / "w.json").string();
  std::ofstream(path)
      << R"({"load": 1, "sizes": {"law": "constant", "mean_s": 3600}, "speeds": "linear"})";
  options_ = {};
  options_.workload = path;
  EXPECT_TRUE(options_.is_described());
  EXPECT_FALSE(options_.is_paper_generator());
  // An hour of a GPU each.
  const auto fleet = Fleet::parse("5xA100-40GB");
  EXPECT_NEAR(read_described(options_, *fleet)->draw.jobs_per_hour, 5, 1e-9);
  EXPECT_EQ(make_jobs(options_, *fleet, 0)->jobs[0].time_us[4], kHourUs);
  options_.rate = 3;
  EXPECT_EQ(make_jobs(options_, *fleet, 0).error().message,
            "--rate: " + path + " describes the jobs, change it there");
}

TEST_F(WorkloadOptionsTest, KeepsTheMeanRateOnAnotherCurve) {
  const auto paper = jobs("--days 20");
  const auto other = jobs("--days 20 --curve openb-2023");
  ASSERT_TRUE(other) << other.error().message;
  // About 80,000 each, so within 1.5 % with five deviations to spare; gaps that cross an hour shift
  // it a little.
  EXPECT_NEAR(static_cast<double>(other->jobs.size()) / static_cast<double>(paper->jobs.size()), 1,
              .03);
}

TEST_F(WorkloadOptionsTest, ReadsAJobTableOrATraceWithItsRules) {
  EXPECT_EQ(jobs("--jobs J")->jobs[0].time_us[4], kSecondUs);
  EXPECT_FALSE(options_.is_paper_generator());
  EXPECT_EQ(jobs("--jobs T")->jobs.size(), 1u);
  EXPECT_EQ(jobs("--jobs T --multi-gpu split")->jobs.size(), 3u);
  const Job job =
      jobs("--jobs T --assign-profiles linear --right-size --deadlines 3:3@3g")->jobs[0];
  EXPECT_EQ(job.time_us[1], 0);
  EXPECT_EQ(job.time_us[2], 10 * kSecondUs);
  EXPECT_EQ(job.deadline_us, 30 * kSecondUs);
}

TEST_F(WorkloadOptionsTest, NamesTheOptionThatIsWrong) {
  EXPECT_EQ(error("--rate 0"), "--rate: found 0, expected a number above 0");
  EXPECT_EQ(error("--rate -3"), "--rate: found -3, expected a number above 0");
  EXPECT_EQ(error("--days 0"), "--days: found 0, expected 1 or more");
  EXPECT_EQ(error("--training-share 1.1"),
            "--training-share: found 1.1, expected a number from 0 to 1");
  EXPECT_EQ(error("--training-share nan"),
            "--training-share: found nan, expected a number from 0 to 1");
  EXPECT_EQ(error("--workload paper-fixed --count 0"), "--count: found 0, expected 1 or more");
  EXPECT_EQ(error("--count 5"),
            "--count: is for --workload paper-fixed; --days says how long paper is");
  EXPECT_EQ(
      error("--workload papr"),
      "--workload: found 'papr', expected paper, paper-fixed or a file; did you mean 'paper'?");
  EXPECT_EQ(error("--speeds fast"), "--speeds: found 'fast', expected paper or linear");
  EXPECT_EQ(error("--right-size"), "--right-size: is for traces, expected --jobs beside it");
  EXPECT_EQ(error("--jobs J --workload paper"),
            "--workload: is for the generator, expected no --jobs beside it");
  EXPECT_EQ(error("--jobs J --rate 3"),
            "--rate: is for the generator, expected no --jobs beside it");
  EXPECT_EQ(error("--jobs J --deadlines 1:2"), "--deadlines: is for traces, but " +
                                                   folder_.string() +
                                                   "/table.csv is a job table and has everything");
  EXPECT_EQ(error("--jobs T --memory some"),
            "--memory: found 'some', expected one of trace, none, profile");
  EXPECT_EQ(error("--jobs T --swf-procs-per-gpu 0"),
            "--swf-procs-per-gpu: found 0, expected a number above 0, at most 1e6");
  EXPECT_EQ(error("--jobs T --format swff"),
            "--format: unknown format 'swff'; did you mean 'swf'?");
  for (const char* start :
       {"--deadlines x", "--curve nowhere", "--rate 1e12", "--jobs T --assign-profiles nothing"}) {
    const std::string line = start;
    const std::size_t option = line.rfind("--");
    const std::string name = line.substr(option, line.find(' ', option) - option);
    EXPECT_TRUE(error(line).starts_with(name + ": ")) << error(line);
  }
}

TEST_F(WorkloadOptionsTest, RefusesDaysBesideAFile) {
  EXPECT_THROW((void)jobs("--jobs J --days 3"), CLI::ParseError);
}

}  // namespace
}  // namespace smartmig
