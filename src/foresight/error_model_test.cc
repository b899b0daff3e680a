#include "foresight/error_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "foresight/named_policies.h"
#include "sim/engine.h"

namespace smartmig {
namespace {

// Jobs of lognormal times around ten minutes, one a minute, on GPUs enough for all.
JobTable lognormal_jobs(std::size_t count, double sigma) {
  JobTable table;
  Random random(1, "sizes");
  for (std::size_t i = 0; i < count; ++i) {
    Job job;
    job.submit_us = static_cast<TimeUs>(i) * kMinuteUs;
    job.time_us.fill(to_us(600 * random.lognormal(0, sigma)));
    job.deadline_us = job.submit_us + kDayUs;
    table.jobs.push_back(job);
  }
  table.nominal_days = 1;
  return table;
}

// A run of them with estimates that are off, up to a time.
struct ErrorRun {
  ErrorRun(double size_sigma, double error_sigma, TimeUs until_us)
      : fleet(*Fleet::parse("64xA100-40GB")), jobs(lognormal_jobs(400, size_sigma)) {
    EngineOptions options;
    options.preemption = Preemption::kOff;
    options.estimate_sigma = error_sigma;
    engine.emplace(fleet, jobs, *make_policy("none/edf", fleet), options);
    while (engine->state().now() < until_us && engine->step()) {
    }
  }
  // How long the jobs that run have run, in units of what they are believed to take.
  std::vector<double> done() {
    std::vector<double> ran;
    const View view = engine->view();
    for (const SliceId slice : view.running())
      ran.push_back(view.believed_done(view.slice(slice).job));
    return ran;
  }
  ErrorModel model() { return ErrorModel(engine->view(), 400, done()); }

  Fleet fleet;
  JobTable jobs;
  std::optional<Engine> engine;
};

TEST(ErrorModel, TakesBeliefsAsTrueOnceJobsEndAsBelieved) {
  ErrorRun run(1, 0, 5 * kHourUs);
  const ErrorModel model = run.model();
  Random random(2, "draws");
  EXPECT_TRUE(model.exact());
  EXPECT_EQ(model.draw(run.jobs.jobs[0], 0.5, random), 1);
}

TEST(ErrorModel, KnowsNothingBeforeAJobHasEnded) {
  ErrorRun run(1, 0, 1);
  const ErrorModel model = run.model();
  EXPECT_FALSE(model.exact());
  Random random(2, "draws");
  std::vector<double> draws;
  for (int i = 0; i < 2000; ++i) draws.push_back(model.draw(run.jobs.jobs[0], 0, random));
  std::ranges::sort(draws);
  EXPECT_NEAR(draws[1000], 1, 0.1);
  EXPECT_NEAR(std::log(draws[1682]), 1, 0.15) << "one standard deviation up";
}

// The sum of what jobs take, by beliefs alone and by the model, over the truth. A belief with an
// error of sigma 1 is on average exp(.5) times the truth, and a draw with the same error around it
// that much more again.
TEST(ErrorModel, DrawsTheRightAmountOfWorkWhereBeliefsAreOff) {
  ErrorRun run(1, 1, 100 * kDayUs);
  const ErrorModel model = run.model();
  const View view = run.engine->view();
  Random random(2, "draws");
  double truth = 0, believed = 0, drawn = 0;
  for (JobIndex job = 0; job < run.jobs.jobs.size(); ++job) {
    const Job belief = view.believed_job(job);
    const auto us = static_cast<double>(time_on_largest(belief));
    truth += static_cast<double>(time_on_largest(run.jobs.jobs[job]));
    believed += us;
    for (int i = 0; i < 20; ++i) drawn += us * model.draw(belief, 0, random) / 20;
  }
  EXPECT_GT(believed / truth, 1.3);
  EXPECT_NEAR(drawn / truth, 1, 0.15);
}

// While many still run, the ended ones are the short ones: by them alone jobs would take half of
// what they are believed to take.
TEST(ErrorModel, IsNotMisledByShortJobsEndingFirst) {
  ErrorRun run(0, 1, 10 * kMinuteUs);
  const View view = run.engine->view();
  ASSERT_GT(view.belief_error_count(), 0u);
  double ended = 0;
  for (std::size_t i = 0; i < view.belief_error_count(); ++i) ended += view.belief_error(i);
  ended /= static_cast<double>(view.belief_error_count());
  Random random(2, "draws");
  const ErrorModel model = run.model();
  std::vector<double> draws;
  for (int i = 0; i < 2000; ++i) draws.push_back(model.draw(view.believed_job(0), 0, random));
  std::ranges::sort(draws);
  EXPECT_GT(draws[1000], ended);
}

TEST(ErrorModel, AJobThatRunsTakesLongerThanItHasRun) {
  ErrorRun run(1, 1, 5 * kHourUs);
  const ErrorModel model = run.model();
  Random random(2, "draws");
  for (const double done : {0.1, 1., 3., 40.}) {
    for (int i = 0; i < 100; ++i)
      EXPECT_GT(model.draw(run.engine->view().believed_job(0), done, random), done);
  }
}

}  // namespace
}  // namespace smartmig
