// Runs of `on-demand` and `miso` whose ends were worked out by hand. On an A100-40GB under `real`
// making a slice takes .16 (1g), .17 (2g), .20 (3g), .21 (4g) and .24 s (7g), destroying it .20,
// .20, .21, .21 and .22 s.
#include <gtest/gtest.h>

#include "policy/registry.h"
#include "sim/engine.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using Ends = std::vector<double>;

struct AskingJob {
  double submit_s;
  const char* profile;
  double time_s = 10;  // On every size.
};

JobTable asking_jobs(const std::vector<AskingJob>& rows) {
  JobTable table;
  for (const AskingJob& row : rows) {
    Job job;
    job.submit_us = to_us(row.submit_s);
    job.deadline_us = to_us(1e6);
    job.time_us.fill(to_us(row.time_s));
    job.profile = Catalogue::shipped().find(row.profile).value();
    table.jobs.push_back(job);
  }
  table.nominal_days = 1;
  return table;
}

Ends ends_under(const std::string& spec, const JobTable& jobs, Preemption preemption,
                const Costs& costs, long* repartitions = nullptr) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  EngineOptions options;
  options.preemption = preemption;
  options.costs = costs;
  Engine engine(fleet, jobs, *make_policy(spec, fleet), options);
  EXPECT_TRUE(engine.run());
  if (repartitions) *repartitions = engine.repartitions();
  Ends ends;
  for (const TimeUs end : engine.finish_us()) ends.push_back(to_s(end));
  return ends;
}

// bert-inference asks for a whole GPU, resnet50-inference for 4g, bert-training for 3g,
// resnet50-training for 1g.
const std::string kSizesAsked =
    "on-demand:bert-inference=7+resnet50-inference=4+bert-training=3+resnet50-training=1";

Ends on_demand(const std::vector<AskingJob>& rows, const std::string& words = "",
               Preemption preemption = Preemption::kOff) {
  return ends_under(kSizesAsked + words, asking_jobs(rows), preemption, Costs::real());
}

TEST(OnDemandRun, DestroysASliceBeforeTheNextJobGetsOneOfTheSameSize) {
  const std::vector<AskingJob> rows = {{0, "bert-inference"}, {1, "bert-inference"}};
  for (const Preemption preemption :
       {Preemption::kOff, Preemption::kCheckpoint, Preemption::kFree}) {
    EXPECT_EQ(on_demand(rows, "", preemption), (Ends{10.24, 20.70})) << to_string(preemption);
    EXPECT_EQ(on_demand(rows, ",keep", preemption), (Ends{10.24, 20.24})) << to_string(preemption);
  }
}

TEST(OnDemandRun, MakesOneSliceAtATime) {
  EXPECT_EQ(on_demand({{0, "bert-training"}, {0, "bert-training"}}), (Ends{10.20, 10.40}));
}

TEST(OnDemandRun, DestroysBeforeItMakesAtOneInstant) {
  EXPECT_EQ(on_demand({{0, "bert-training"}, {10.20, "resnet50-training"}}), (Ends{10.20, 20.57}));
}

TEST(OnDemandRun, KeepsTheOrderOfTheQueueOfOperations) {
  // From 10.16 to 10.36 a 1g is destroyed. Meanwhile another one is asked for, at 10.20, and at
  // 10.36 the 3g is to be destroyed: what was queued first comes first.
  EXPECT_EQ(on_demand({{0, "resnet50-training"},
                       {0, "bert-training"},
                       {10.2, "resnet50-training"},
                       {10.5, "bert-inference"}}),
            (Ends{10.16, 10.36, 20.52, 30.96}));
}

TEST(OnDemandRun, PassesOverAJobWithoutAPlaceUnlessTheQueueIsStrict) {
  const std::vector<AskingJob> rows = {
      {0, "resnet50-inference"}, {1, "bert-inference"}, {2, "resnet50-training"}};
  EXPECT_EQ(on_demand(rows), (Ends{10.21, 22.60, 12.16}));
  EXPECT_EQ(on_demand(rows, ",strict"), (Ends{10.21, 20.66, 31.04}));
}

TEST(OnDemandRun, KeepDestroysOnlyIdleSlicesThatAreInTheWay) {
  // The 1g goes to the end of the board and stays there; the first 3g finds room beside it, the
  // second one does not.
  const std::vector<AskingJob> rows = {
      {0, "resnet50-training"}, {20, "bert-training"}, {21, "bert-training"}};
  EXPECT_EQ(on_demand(rows, ",keep"), (Ends{10.16, 30.20, 31.40}));
}

TEST(OnDemandRun, CountsOperationsThatBeginAtOneInstantAsOneRepartition) {
  long repartitions = 0;
  const JobTable jobs = asking_jobs({{0, "bert-training"}, {0, "bert-training"}});
  ends_under(kSizesAsked, jobs, Preemption::kOff, Costs::free(), &repartitions);
  EXPECT_EQ(repartitions, 2);  // Both are made at 0 and destroyed at 10.
}

TEST(OnDemandRun, AsksForWhatTheColumnRequestSays) {
  JobTable jobs = asking_jobs({{0, "bert-inference"}, {0, "bert-inference"}});
  jobs.jobs[0].request_millionths = 571429;  // 4/7: the two fit beside each other.
  jobs.jobs[1].request_millionths = 428571;
  EXPECT_EQ(ends_under("on-demand:asked", jobs, Preemption::kOff, Costs::real()),
            (Ends{10.21, 10.41}));
  jobs.jobs[1].request_millionths = 0;  // Not known: a whole GPU.
  EXPECT_EQ(ends_under("on-demand:asked", jobs, Preemption::kOff, Costs::real()),
            (Ends{10.21, 20.66}));
}

JobTable linear_jobs(const std::vector<double>& submits_s) {
  JobTable table;
  for (const double submit_s : submits_s) {
    Job job;
    job.submit_us = to_us(submit_s);
    job.deadline_us = to_us(1e6);
    for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(70.0 / kSizes[size]);
    table.jobs.push_back(job);
  }
  table.nominal_days = 1;
  return table;
}

TEST(MisoRun, GivesTwoLinearJobsAFourAndAThree) {
  // The first runs 1 s on 7g, then the rest on 4g; the second has .325 left when it ends.
  const Ends ends = ends_under("miso", linear_jobs({0, 1}), Preemption::kFree, Costs::free());
  EXPECT_NEAR(ends[0], 16.75, 1e-5);
  EXPECT_NEAR(ends[1], 20, 1e-5);
}

TEST(MisoRun, WaitsForTheEndOfAJobThatCannotBeStopped) {
  EXPECT_EQ(ends_under("miso", linear_jobs({0, 1}), Preemption::kOff, Costs::free()),
            (Ends{10, 20}));
}

TEST(MisoRun, ProfilesOnEqualShares) {
  // 3-3 from 1 to 5, then 4-3: the first has .9 left at 1, .9 - 4 * 3/70 at 5.
  const Ends ends = ends_under("miso:4", linear_jobs({0, 1}), Preemption::kFree, Costs::free());
  EXPECT_NEAR(ends[0], 5 + (0.9 - 12.0 / 70) * 17.5, 1e-4);
}

}  // namespace
}  // namespace smartmig
