#include "workload/fill.h"

#include <gtest/gtest.h>

#include <map>

#include "workload/catalogue.h"
#include "workload/job_table.h"
#include "workload/profile_pool.h"

namespace smartmig {
namespace {

Trace trace_of(std::size_t jobs, double fraction = 1, int count = 1) {
  Trace trace;
  for (std::size_t i = 0; i < jobs; ++i) {
    TraceJob job;
    job.id = std::to_string(i);
    job.submit_us = static_cast<TimeUs>(i) * kMinuteUs;
    job.duration_us = 700 * kSecondUs;
    job.gpu_fraction = fraction;
    job.gpu_count = count;
    trace.jobs.push_back(job);
  }
  return trace;
}

FilledTrace filled(const Trace& trace, const FillOptions& options) {
  auto result = fill(trace, options, "t");
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(*result) : FilledTrace{};
}

TEST(Fill, FindsTheSmallestSliceThatHoldsARequest) {
  const std::pair<double, int> cases[] = {{.001, 1}, {.14, 1},     {1 / 7.0, 1}, {.15, 2},
                                          {.28, 2},  {2 / 7.0, 2}, {.32, 3},     {3 / 7.0, 3},
                                          {.46, 4},  {4 / 7.0, 4}, {.58, 7},     {1, 7}};
  for (const auto& [fraction, size] : cases)
    EXPECT_EQ(kSizes[size_of_request(fraction)], size) << fraction;
}

TEST(Fill, TakesTheObservedTimeForTheSizeTheJobHad) {
  FillOptions options;
  options.profiles = "linear";
  const FilledTrace whole = filled(trace_of(1), options);
  EXPECT_EQ(whole.table.jobs[0].time_us,
            (std::array<TimeUs, 5>{4900 * kSecondUs, 2450 * kSecondUs, 1'633'333'333,
                                   1225 * kSecondUs, 700 * kSecondUs}));
  EXPECT_EQ(whole.table.jobs[0].profile, kNoProfile);
  const FilledTrace third = filled(trace_of(1, .4), options);  // Had a 3g.
  EXPECT_EQ(third.table.jobs[0].time_us[2], 700 * kSecondUs);
  EXPECT_EQ(third.table.jobs[0].time_us[0], 2100 * kSecondUs);
  EXPECT_EQ(third.table.jobs[0].time_us[4], 300 * kSecondUs);
}

TEST(Fill, DrawsProfilesOfTheJobsKind) {
  Trace trace = trace_of(3000);
  for (std::size_t i = 0; i < 3000; i += 2) trace.jobs[i].kind = TraceKind::kTraining;
  FillOptions options;
  options.training_share = 0;
  std::map<std::string, int> drawn;
  for (const Job& job : filled(trace, options).table.jobs) {
    const SpeedProfile& profile = Catalogue::shipped().profiles()[job.profile];
    EXPECT_EQ(profile.kind, job.kind);
    ++drawn[profile.name];
  }
  // BERT twice as often as ResNet-50: 1,000 of 1,500, standard deviation 18.
  EXPECT_NEAR(drawn["bert-training"], 1000, 75);
  EXPECT_NEAR(drawn["bert-inference"], 1000, 75);
  EXPECT_EQ(drawn["bert-training"] + drawn["resnet50-training"], 1500);
}

TEST(Fill, TakesAnyKindWhereTheSetHasNoneOfTheJobs) {
  FillOptions options;
  options.profiles = "resnet50-training";
  options.training_share = 0;
  for (const Job& job : filled(trace_of(20), options).table.jobs) {
    EXPECT_EQ(job.kind, JobKind::kInference);
    EXPECT_EQ(Catalogue::shipped().profiles()[job.profile].name, "resnet50-training");
  }
}

TEST(Fill, PrefersProfilesThatRunOnTheSizeTheJobHad) {
  FillOptions options;
  options.profiles = "parvagpu";  // Some of its profiles do not fit a 1g.
  const FilledTrace result = filled(trace_of(500, .1), options);
  for (const Job& job : result.table.jobs) EXPECT_EQ(job.time_us[0], 700 * kSecondUs);
  // One that does not: the observed time is taken for the next size on which it does.
  options.profiles = "parvagpu-densenet121-b128";
  const Job job = filled(trace_of(1, .1), options).table.jobs[0];
  EXPECT_EQ(job.time_us[0], 0);
  EXPECT_EQ(job.time_us[1], 0);
  EXPECT_EQ(job.time_us[2], 700 * kSecondUs);
  // To have run there counts for more than the kind.
  options.profiles = "parvagpu-densenet121-b128,bert-training";
  options.training_share = 0;
  for (const Job& other : filled(trace_of(20, .1), options).table.jobs) {
    EXPECT_EQ(Catalogue::shipped().profiles()[other.profile].name, "bert-training");
  }
}

TEST(Fill, RightSizeForbidsSlicesBelowTheRequest) {
  FillOptions options;
  options.right_size = true;
  const Job fraction = filled(trace_of(1, .4), options).table.jobs[0];
  EXPECT_EQ(fraction.time_us[0], 0);
  EXPECT_EQ(fraction.time_us[1], 0);
  EXPECT_GT(fraction.time_us[2], 0);
  EXPECT_GT(fraction.time_us[4], 0);
  // Who asked for a whole GPU had nothing smaller to ask for.
  EXPECT_GT(filled(trace_of(1), options).table.jobs[0].time_us[0], 0);
}

TEST(Fill, SetsDeadlinesByTheRule) {
  FillOptions options;
  options.profiles = "linear";
  options.deadlines = {2, 4, 1};
  double sum = 0;
  const FilledTrace result = filled(trace_of(2000), options);
  for (const Job& job : result.table.jobs) {
    const double factor = to_s(job.deadline_us - job.submit_us) / to_s(job.time_us[0]);
    EXPECT_GE(factor, 2 - 1e-9);
    EXPECT_LT(factor, 4);
    sum += factor;
  }
  EXPECT_NEAR(sum / 2000, 3, .05);  // Four standard deviations.
}

TEST(Fill, FollowsTheRuleForSeveralGpus) {
  FillOptions options;
  Trace trace = trace_of(2, 1, 3);
  trace.jobs[1].gpu_count = 1;
  trace.jobs[1].id = "0/1";  // Where a part of job 0 would be.
  const FilledTrace dropped = filled(trace, options);
  EXPECT_EQ(dropped.table.jobs.size(), 1u);
  EXPECT_EQ(dropped.report.dropped.text(), "1 asks for several GPUs");
  EXPECT_EQ(dropped.report.kept.rows, 1u);
  options.multi_gpu = MultiGpu::kOne;
  EXPECT_EQ(filled(trace, options).table.jobs.size(), 2u);
  options.multi_gpu = MultiGpu::kSplit;
  const FilledTrace split = filled(trace, options);
  ASSERT_EQ(split.table.jobs.size(), 4u);
  EXPECT_EQ(split.report.kept.rows, 2u);
  EXPECT_TRUE(parse_job_table(format_job_table(split.table), "again"));
  EXPECT_EQ(parse_multi_gpu("all").error().message,
            "found 'all', expected one of drop, one, split");
}

TEST(Fill, TakesTwoSmallSlicesForOneOfTheirSum) {
  FillOptions options;
  options.profiles = "linear";
  options.multi_gpu = MultiGpu::kOne;
  EXPECT_EQ(filled(trace_of(1, 1 / 7.0, 3), options).table.jobs[0].time_us[2], 700 * kSecondUs);
}

TEST(Fill, SetsMemoryByTheRule) {
  Trace trace = trace_of(1);
  trace.jobs[0].memory_mib = 777;
  FillOptions options;
  options.profiles = "miso-bert-b2";
  EXPECT_EQ(filled(trace, options).table.jobs[0].memory_mib, 777);
  options.memory = MemoryRule::kIgnore;
  EXPECT_EQ(filled(trace, options).table.jobs[0].memory_mib, 0);
  options.memory = MemoryRule::kProfile;
  EXPECT_EQ(filled(trace, options).table.jobs[0].memory_mib,
            Catalogue::shipped().profiles()[*Catalogue::shipped().find("miso-bert-b2")].memory_mib);
}

TEST(Fill, IsTheSameForTheSameSeedAndKeepsOtherDrawsWhenOneRuleChanges) {
  const Trace trace = trace_of(200);
  FillOptions options;
  const std::string once = format_job_table(filled(trace, options).table);
  EXPECT_EQ(format_job_table(filled(trace, options).table), once);
  options.seed = 2;
  EXPECT_NE(format_job_table(filled(trace, options).table), once);
  options.seed = 1;
  options.deadlines = {2, 4, 7};
  const FilledTrace relaxed = filled(trace, options);
  const JobTable tight = filled(trace, {}).table;
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(relaxed.table.jobs[i].time_us, tight.jobs[i].time_us);
    EXPECT_EQ(relaxed.table.jobs[i].kind, tight.jobs[i].kind);
  }
}

TEST(Fill, DropsJobsWhoseDeadlineCannotBeWritten) {
  Trace trace = trace_of(2);
  trace.jobs[1].duration_us = 2000 * kSecondUs;
  FillOptions options;
  options.profiles = "linear";
  options.deadlines = {1e6, 1e6, 1};  // 4.9e9 s for the first job, 1.4e10 s for the second.
  EXPECT_EQ(filled(trace, options).report.dropped.text(), "1 a time over 1e10 s");
  trace.jobs[0].duration_us = trace.jobs[1].duration_us;
  EXPECT_EQ(fill(trace, options, "t").error().message,
            "t: has no job left among 0 rows; dropped: 2 a time over 1e10 s");
}

TEST(Fill, DropsJobsWhoseTimesCannotBeWrittenAndLeavesTheOthersAsTheyWere) {
  Trace trace = trace_of(3);
  FillOptions options;
  const JobTable all = filled(trace, options).table;
  trace.jobs[1].duration_us = static_cast<TimeUs>(9e9) * kSecondUs;  // Several times that on a 1g.
  const JobTable rest = filled(trace, options).table;
  ASSERT_EQ(rest.jobs.size(), 2u);
  EXPECT_EQ(rest.jobs[1].time_us, all.jobs[2].time_us);
  EXPECT_EQ(rest.jobs[1].deadline_us, all.jobs[2].deadline_us);
  options.deadlines = {0, 0, 7};
  EXPECT_EQ(filled(trace, options).table.jobs.size(), 2u);
}

TEST(Fill, DrawsDeadlinesFromTheSeed) {
  FillOptions options;
  options.profiles = "linear";
  const TimeUs first = filled(trace_of(1), options).table.jobs[0].deadline_us;
  options.seed = 2;
  EXPECT_NE(filled(trace_of(1), options).table.jobs[0].deadline_us, first);
}

TEST(Fill, SaysWhichProfilesThereAre) {
  EXPECT_EQ(ProfilePool::parse("mso").error().message,
            "found 'mso', expected a set or a profile of the catalogue; did you mean 'miso'?");
  EXPECT_EQ(ProfilePool::parse("bert-training,bert-trainin").error().message,
            "found 'bert-trainin', expected a set or a profile of the catalogue; did you mean "
            "'bert-training'?");
  EXPECT_TRUE(ProfilePool::parse("bert-training, miso-gnn-b64"));
}

TEST(Fill, HasMadeUpSpeeds) {
  const auto times = [](const std::string& speeds) {
    FillOptions options;
    options.profiles = speeds;
    return filled(trace_of(1), options).table.jobs[0].time_us;
  };
  const auto linear = times("linear");
  const auto flat = times("flat");
  const auto memory = times("memory-bound");
  const auto large = times("large-only");
  EXPECT_EQ(linear[0], 7 * linear[4]);
  for (const TimeUs time_us : flat) EXPECT_EQ(time_us, flat[4]);
  EXPECT_EQ(memory[0], 8 * memory[4]);
  EXPECT_EQ(memory[2], memory[3]);
  EXPECT_EQ(large[1], 0);
  EXPECT_GT(large[2], 0);
}

TEST(Fill, SharesOfProfilesAreHowOftenTheyAreDrawn) {
  const ProfilePool pool = *ProfilePool::parse("paper");
  const auto shares = pool.shares(JobKind::kTraining, 4);
  ASSERT_EQ(shares.size(), 2u);
  Random random(1, "test");
  int first = 0;
  for (int i = 0; i < 30'000; ++i)
    first += pool.draw(JobKind::kTraining, 4, random) == shares[0].profile;
  EXPECT_NEAR(first / 30'000.0, shares[0].share, .01);
  EXPECT_NEAR(shares[0].share + shares[1].share, 1, 1e-12);
  EXPECT_EQ(ProfilePool::parse("catalogue")->size(), Catalogue::shipped().profiles().size());
}

TEST(Fill, DrawsDeadlinesFromTwoToSixTimesTheTimeOn7gUnlessTheTraceHasThem) {
  Trace trace = trace_of(200);
  trace.jobs[7].deadline_us = trace.jobs[7].submit_us + 1;
  const FilledTrace made = filled(trace, {});
  for (std::size_t i = 0; i < 200; ++i) {
    const Job& job = made.table.jobs[i];
    const double times = static_cast<double>(job.deadline_us - job.submit_us) /
                         static_cast<double>(job.time_us.back());
    if (i == 7) continue;
    EXPECT_GE(times, 2 - 1e-9);
    EXPECT_LE(times, 6 + 1e-9);
  }
  EXPECT_EQ(made.table.jobs[7].deadline_us, trace.jobs[7].deadline_us);
  EXPECT_EQ(made.counts.deadlines, 1u);
  FillOptions asked;
  asked.own_deadlines = false;
  EXPECT_GT(filled(trace, asked).table.jobs[7].deadline_us, trace.jobs[7].submit_us + kMinuteUs);
}

// The limit was for the 3g it had: the believed time on 7g is as many times the true one.
TEST(Fill, ScalesAnEstimateToTheTimeOn7g) {
  FillOptions options;
  options.profiles = "linear";
  Trace trace = trace_of(1, .4);
  trace.jobs[0].estimate_us = 1400 * kSecondUs;  // It ran 700 s.
  const Job job = filled(trace, options).table.jobs[0];
  EXPECT_EQ(job.time_us[4], 300 * kSecondUs);
  EXPECT_EQ(job.estimate_us, 600 * kSecondUs);
  EXPECT_DOUBLE_EQ(belief(job), 2);
  options.own_estimates = false;
  EXPECT_EQ(filled(trace, options).table.jobs[0].estimate_us, 0);
}

TEST(Fill, KeepsWhatWasAskedForWhereTheTraceSaysIt) {
  FillOptions options;
  Trace trace = trace_of(2, 0.5);
  trace.jobs[1].asked_fraction = 4 / 7.0;
  const FilledTrace plain = filled(trace, options);
  EXPECT_EQ(plain.table.jobs[0].request_millionths, 0);
  EXPECT_EQ(plain.table.jobs[1].request_millionths, 571429);
  Trace several = trace_of(1, 1, 4);
  several.jobs[0].asked_fraction = 1;
  options.multi_gpu = MultiGpu::kSplit;
  for (const Job& job : filled(several, options).table.jobs)
    EXPECT_EQ(job.request_millionths, kWholeGpu);
}

TEST(Fill, RefusesToSplitIntoVeryManyJobs) {
  FillOptions options;
  options.multi_gpu = MultiGpu::kSplit;
  options.max_split_jobs = 100;
  EXPECT_TRUE(fill(trace_of(10, 1, 10), options, "t"));
  const auto many = fill(trace_of(11, 1, 10), options, "t");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message,
            "t: --multi-gpu split makes 110 jobs of its 0 rows, expected at most 100; --multi-gpu "
            "drop or one makes at most one of each row");
  // The limit that users have: 2,000 rows of 65,536 GPUs.
  options.max_split_jobs = kMaxSplitJobs;
  EXPECT_FALSE(fill(trace_of(2000, 1, 65536), options, "t"));
}

}  // namespace
}  // namespace smartmig
