#include "foresight/futures.h"
#include "foresight/named_policies.h"

#include <gtest/gtest.h>

#include "sim/metrics.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

JobTable papers_hours(double hours, double rate) {
  GeneratorOptions options;
  options.rate = rate;
  options.seed = 3;
  JobTable table = generate(options);
  std::erase_if(table.jobs, [&](const Job& job) { return to_s(job.submit_us) > hours * 3600; });
  return table;
}

// Of 100 s on every size, one every so many seconds.
JobTable flat_jobs(int count, int gap_s) {
  JobTable table;
  table.nominal_days = 1;
  for (int i = 0; i < count; ++i) {
    Job job;
    job.submit_us = i * gap_s * kSecondUs;
    job.time_us.fill(to_us(100));
    job.deadline_us = job.submit_us + to_us(150);
    table.jobs.push_back(job);
  }
  return table;
}

std::vector<TimeUs> finish_times(Engine engine) {
  EXPECT_TRUE(engine.run().has_value());
  return {engine.finish_us().begin(), engine.finish_us().end()};
}

double et(const Fleet& fleet, const JobTable& jobs, std::string_view policy,
          const EngineOptions& options) {
  Engine engine(fleet, jobs, *make_named_policy(policy, fleet), options);
  EXPECT_TRUE(engine.run().has_value());
  return measure(engine, 2e-7).et;
}

class ForesightUnder : public testing::TestWithParam<Preemption> {};

// In the middle of a run a copy, which looks ahead in room of its own, decides the same.
TEST_P(ForesightUnder, DecidesTheSameInACopy) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  const JobTable jobs = papers_hours(4, 10);
  EngineOptions options;
  options.costs = GetParam() == Preemption::kFree ? Costs::free() : Costs::real();
  options.preemption = GetParam();
  Engine engine(fleet, jobs, *make_named_policy("smartmig", fleet), options);
  const std::vector<TimeUs> whole = finish_times(engine);
  while (engine.completed() < jobs.jobs.size() / 2 && engine.step()) {
  }
  EXPECT_EQ(finish_times(engine), whole);
  EXPECT_EQ(finish_times(std::move(engine)), whole);
}

INSTANTIATE_TEST_SUITE_P(Preemption, ForesightUnder,
                         testing::Values(Preemption::kFree, Preemption::kCheckpoint,
                                         Preemption::kOff),
                         [](const auto& with) { return std::string(to_string(with.param)); });

// Overload by jobs that scale badly: whole GPUs drown. Few jobs that scale well: slices are a
// waste.
TEST(Foresight, FollowsThePolicyThatTheJobsCallFor) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  EngineOptions options;
  options.costs = Costs::real();
  options.preemption = Preemption::kOff;
  const JobTable flat = flat_jobs(600, 20);
  EXPECT_LT(et(fleet, flat, "smartmig", options), 0.2 * et(fleet, flat, "none/edf", options));

  JobTable linear = flat;
  for (std::size_t i = 0; i < linear.jobs.size(); ++i) {
    Job& job = linear.jobs[i];
    job.submit_us = static_cast<TimeUs>(i) * 100 * kSecondUs;
    for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(700. / kSizes[size]);
    job.deadline_us = job.submit_us + to_us(101);
  }
  EXPECT_LT(et(fleet, linear, "smartmig", options), 1.02 * et(fleet, linear, "none/edf", options));
}

// Small jobs all day, for which the smallest slices are best, then one that runs on a whole GPU
// alone. Nothing comes after it.
TEST(Foresight, LeavesNoJobForEver) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  for (const Preemption preemption : {Preemption::kCheckpoint, Preemption::kOff}) {
    JobTable table = flat_jobs(400, 15);
    Job whole;
    whole.submit_us = table.jobs.back().submit_us + 90 * kSecondUs;
    whole.time_us[kSizeCount - 1] = to_us(100);
    whole.deadline_us = whole.submit_us + kDayUs;
    table.jobs.push_back(whole);
    EngineOptions options;
    options.costs = Costs::real();
    options.preemption = preemption;
    Engine engine(fleet, table, *make_named_policy("smartmig", fleet), options);
    EXPECT_TRUE(engine.run().has_value()) << to_string(preemption);
  }
}

// On a live fleet that a controller has taken over jobs are not in the order of their submits.
TEST(Foresight, DrawsArrivalsInOrderOfTimeWhateverTheOrderOfJobs) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  std::vector<Job> jobs(20);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].submit_us = to_us(static_cast<double>((i * 7) % 20) * 60);
    jobs[i].deadline_us = jobs[i].submit_us + to_us(600);
    jobs[i].time_us.fill(to_us(100));
  }
  State::Options options;
  options.preemption = Preemption::kOff;
  State state(fleet, jobs, options);
  state.set_now(to_us(1300));
  for (JobIndex job = 0; job < jobs.size(); ++job) state.arrive(job);
  ViewScratch scratch;
  const View view(state, scratch);
  const FleetSample sample(fleet, 8);
  Random random(1, "arrivals");
  Present present;
  Future future;
  look_at_present(view, sample, random, present);
  for (int i = 0; i < 20; ++i) {
    draw_future(view, sample, present, {.arrivals = 50}, ErrorModel(view, 400, present.done),
                random, future);
    ASSERT_EQ(future.table.jobs.size(), 70u);
    TimeUs before_us = view.now();
    for (const Job& job : future.table.jobs) {
      EXPECT_GE(job.submit_us, before_us);
      before_us = job.submit_us;
    }
  }
}

TEST(Foresight, RunsOnALargeFleetOfWhichItSimulatesASample) {
  const Fleet fleet = *Fleet::parse("100xA100-40GB+30xA30");
  const JobTable jobs = papers_hours(2, 250);
  EngineOptions options;
  options.costs = Costs::real();
  options.preemption = Preemption::kCheckpoint;
  EXPECT_LT(et(fleet, jobs, "smartmig", options), 1.1 * et(fleet, jobs, "count/cedf", options));
}

TEST(Foresight, NamesAFileItCannotRead) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  const auto missing = make_named_policy("smartmig:/no/such/file", fleet);
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/no/such/file"), std::string::npos);
  EXPECT_EQ(make_named_policy("smartmig:", fleet).error().message,
            "policy smartmig: expected a file after the ':'");
}

}  // namespace
}  // namespace smartmig
