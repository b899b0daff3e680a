#include "workload/described.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

DescribedWorkload parsed(const std::string& json) {
  const auto workload = parse_workload(json, "w.json");
  EXPECT_TRUE(workload) << workload.error().message;
  return workload.value_or(DescribedWorkload{});
}
std::string error_of(const std::string& json) {
  const auto workload = parse_workload(json, "w.json");
  return workload ? "no error" : workload.error().message;
}
constexpr const char* kLeast = R"({"load": 0.5, "sizes": {"law": "constant", "mean_s": 60}})";

JobTable day_of(const DescribedWorkload& workload, double jobs_per_hour, std::uint64_t day = 0) {
  return generate_described(workload, {jobs_per_hour, kSizeCount - 1, 3, day});
}

TEST(Described, HasDefaultsForAllButRateAndSizes) {
  const DescribedWorkload workload = parsed(kLeast);
  EXPECT_EQ(workload.rate_unit, RateUnit::kLoad);
  EXPECT_EQ(workload.rate, 0.5);
  EXPECT_EQ(workload.speeds, "paper");
  EXPECT_EQ(workload.training_share, 0.2);
  EXPECT_EQ(workload.stoppable_share, 1);
  EXPECT_EQ(to_string(workload.deadlines), "1:1.5");
  EXPECT_EQ(workload.hours, 24);
  EXPECT_EQ(workload.max_jobs, 4000);
  EXPECT_EQ(workload.arrivals.by_hour[13], 1);
}

TEST(Described, ReadsBackWhatItWrites) {
  const std::string text = R"({"arrivals": {"curve": "openb-2023", "batch_mean": 3.5},
    "jobs_per_hour": 77.25, "sizes": {"law": "pareto", "mean_s": 12, "shape": 1.25, "training_factor": 4},
    "speeds": "flat", "training_share": 0.3, "stoppable_share": 0.6, "deadlines": "2:3", "hours": 6,
    "max_jobs": 100})";
  const DescribedWorkload workload = parsed(text);
  const std::string written = to_json(workload).dump();
  EXPECT_EQ(to_json(parsed(written)).dump(), written);
  EXPECT_EQ(workload.arrivals.batch_mean, 3.5);
  EXPECT_EQ(workload.rate, 77.25);
  EXPECT_EQ(workload.sizes.shape, 1.25);
  EXPECT_EQ(workload.sizes.training_factor, 4);
}

TEST(Described, NamesFileFieldFoundAndExpected) {
  EXPECT_EQ(error_of(R"({"sizes": {"law": "constant", "mean_s": 60}})"),
            "w.json: load: is missing, expected load or jobs_per_hour");
  EXPECT_EQ(
      error_of(R"({"load": 1, "jobs_per_hour": 2, "sizes": {"law": "constant", "mean_s": 1}})"),
      "w.json: load: stands beside jobs_per_hour, expected one of them");
  EXPECT_EQ(
      error_of(R"({"load": 1, "sizes": {"law": "gauss", "mean_s": 60}})"),
      "w.json: sizes.law: found 'gauss', expected constant, exponential, lognormal or pareto");
  EXPECT_EQ(error_of(R"({"load": 1, "sizes": {"law": "constant", "mean_s": 60, "sigma": 1}})"),
            "w.json: sizes.sigma: is for lognormal sizes, found law constant");
  EXPECT_EQ(
      error_of(R"({"load": 1, "sizes": {"law": "constant", "mean_s": 60}, "deadlines": "2"})"),
      "w.json: deadlines: found '2', expected LOW:HIGH or LOW:HIGH@SIZE, such as 1:1.5 or "
      "1:1.5@1g");
  EXPECT_EQ(error_of(R"({"load": 1, "sizes": {"law": "constant", "mean_s": 60},
                         "arrivals": {"by_hour": [1, 2]}})"),
            "w.json: arrivals.by_hour: found 2 numbers, expected 24, one for each hour of the day, "
            "and some above 0");
  EXPECT_EQ(error_of(R"({"load": 1, "sizes": {"law": "constant", "mean_s": 60}, "speeds": "fat"})"),
            "w.json: speeds: found 'fat', expected a set or a profile of the catalogue; did you "
            "mean 'flat'?");
}

TEST(Described, ArrivesAtTheRateOfTheHour) {
  DescribedWorkload workload = parsed(kLeast);
  workload.arrivals.by_hour.fill(0);
  workload.arrivals.by_hour[5] = 18;
  workload.arrivals.by_hour[20] = 6;
  const JobTable day = day_of(workload, 100);
  std::array<int, 24> count{};
  for (const Job& job : day.jobs) ++count[static_cast<std::size_t>(job.submit_us / kHourUs)];
  // Expected 1800 and 600; four deviations.
  EXPECT_NEAR(count[5], 1800, 170);
  EXPECT_NEAR(count[20], 600, 98);
  EXPECT_EQ(day.jobs.size(), static_cast<std::size_t>(count[5] + count[20]));
}

TEST(Described, ComesInBatchesThatKeepTheRate) {
  DescribedWorkload workload = parsed(kLeast);
  workload.arrivals.batch_mean = 5;
  workload.max_jobs = 1'000'000;
  const JobTable day = day_of(workload, 4000);
  std::size_t batches = 1;
  for (std::size_t i = 1; i < day.jobs.size(); ++i)
    batches += day.jobs[i].submit_us != day.jobs[i - 1].submit_us;
  EXPECT_NEAR(static_cast<double>(day.jobs.size()), 96'000, 4000);
  EXPECT_NEAR(static_cast<double>(day.jobs.size()) / static_cast<double>(batches), 5, .2);
}

TEST(Described, EndsAfterItsHoursOrItsLastJob) {
  DescribedWorkload workload = parsed(kLeast);
  const JobTable whole = day_of(workload, 100);
  EXPECT_EQ(whole.nominal_days, 1);
  EXPECT_EQ(whole.trace->first_submit_us, 0) << "midnight";
  EXPECT_LE(whole.jobs.back().submit_us, kDayUs);
  workload.max_jobs = 50;
  const JobTable cut = day_of(workload, 100);
  EXPECT_EQ(cut.jobs.size(), 50u);
  EXPECT_EQ(cut.trace->last_submit_us, cut.jobs.back().submit_us);
  EXPECT_NEAR(cut.nominal_days, .5 / 24, .015);
}

TEST(Described, StartsAShortWindowAtAnHourOfItsOwn) {
  DescribedWorkload workload = parsed(kLeast);
  workload.hours = 2;
  std::array<int, 24> hours{};
  for (std::uint64_t day = 0; day < 200; ++day) {
    const TimeUs begin_us = day_of(workload, 100, day).trace->first_submit_us;
    ASSERT_EQ(begin_us % kHourUs, 0);
    ++hours[static_cast<std::size_t>(begin_us / kHourUs)];
  }
  for (const int count : hours) EXPECT_GT(count, 0);
}

TEST(Described, HasAtLeastOneJob) {
  const JobTable day = day_of(parsed(kLeast), 1e-4);
  EXPECT_EQ(day.jobs.size(), 1u);
  EXPECT_EQ(day.trace->last_submit_us, day.jobs[0].submit_us) << "the day lasts until it arrives";
}

TEST(Described, GivesJobsTheSpeedsKindsAndStopsOfTheFile) {
  DescribedWorkload workload = parsed(kLeast);
  workload.speeds = "memory-bound";
  workload.training_share = .5;
  workload.stoppable_share = .5;
  int training = 0;
  int stoppable = 0;
  const JobTable day = day_of(workload, 160);
  for (const Job& job : day.jobs) {
    EXPECT_EQ(job.time_us[0], to_us(480)) << "a whole GPU has eight memory slices, 1g has one";
    EXPECT_EQ(job.time_us[2], to_us(120));
    EXPECT_EQ(job.time_us[4], to_us(60));
    training += job.kind == JobKind::kTraining;
    stoppable += job.preemptible == Preemptible::kYes;
    EXPECT_TRUE(job.kind == JobKind::kTraining || job.preemptible == Preemptible::kNo);
  }
  const auto jobs = static_cast<double>(day.jobs.size());
  EXPECT_NEAR(training / jobs, .5, .04);
  EXPECT_NEAR(stoppable / jobs, .25, .04);
}

TEST(Described, ChangesNoOtherDrawWithOneField) {
  DescribedWorkload workload = parsed(kLeast);
  const JobTable before = day_of(workload, 50);
  workload.deadlines = {5, 10, 7};
  workload.stoppable_share = 0;
  const JobTable after = day_of(workload, 50);
  ASSERT_EQ(before.jobs.size(), after.jobs.size());
  for (std::size_t i = 0; i < before.jobs.size(); ++i) {
    EXPECT_EQ(before.jobs[i].submit_us, after.jobs[i].submit_us);
    EXPECT_EQ(before.jobs[i].kind, after.jobs[i].kind);
    EXPECT_EQ(before.jobs[i].profile, after.jobs[i].profile);
  }
}

TEST(Described, TypesHaveTheMeansOfTheJobs) {
  DescribedWorkload workload = parsed(kLeast);
  workload.speeds = "large-only";
  workload.sizes.training_factor = 3;
  const auto types = job_types(workload, kSizeCount - 1);
  ASSERT_EQ(types.size(), 2u);
  // .8 x + .2 * 3x = 60: x = 42.857.
  EXPECT_NEAR(types[0].share, .8, 1e-12);
  EXPECT_NEAR(types[0].mean_s[4], 60 / 1.4, 1e-9);
  EXPECT_NEAR(types[1].mean_s[4], 180 / 1.4, 1e-9);
  EXPECT_EQ(types[0].mean_s[1], 0) << "does not run on 2g";
  EXPECT_NEAR(types[0].mean_s[2], 60 / 1.4 * 7 / 3, 1e-9);
}

}  // namespace
}  // namespace smartmig
