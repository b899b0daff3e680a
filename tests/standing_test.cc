// A run that begins in the middle, with what a View shows, goes on as the run that it was taken
// from: on random cases in which beliefs are true, without what comes later.
#include <gtest/gtest.h>

#include "base/random.h"
#include "foresight/named_policies.h"
#include "foresight/present.h"
#include "random_case.h"
#include "sim/engine.h"

namespace smartmig {
namespace {

// Rounded where it began: each job that is on a slice may end a microsecond earlier or later, and
// so may those that come after it on the same slice.
constexpr TimeUs kRoundingUs = 50;

bool saves(const State& state) {
  return std::ranges::any_of(state.running(), [&](SliceId slice) {
    return state.job_state(state.slice(slice).job).status == JobStatus::kSaving;
  });
}

// Times of a second or more that no two jobs share, so that rounding changes no decision.
void spread_times(JobTable& table, Random& random) {
  for (Job& job : table.jobs) {
    job.estimate_us = 0;
    const double factor = random.uniform(1, 1.5);
    for (TimeUs& us : job.time_us)
      us = us == 0 ? 0 : static_cast<TimeUs>(static_cast<double>(us + kSecondUs) * factor);
  }
}

// "" where both go on alike. `runs` counts the jobs that were on a slice.
std::string difference_from_the_middle(RandomCase random, std::uint64_t number, std::size_t& runs) {
  Random draw(12, "standing", number);
  random.events.clear();
  random.sigma = 0;
  spread_times(random.jobs, draw);
  const Fleet fleet = Fleet::parse(random.fleet).value();
  const Policy policy = make_named_policy(random.policy, fleet).value();
  const EngineOptions options = engine_options(random);
  Engine engine(fleet, random.jobs, policy, options);
  for (auto steps = draw.below(random.jobs.jobs.size() * 2); steps > 0; --steps) engine.step();
  if (saves(engine.state()) || engine.state().jobs_in_system() == 0) return "";

  // Without the jobs to come.
  JobTable arrived = random.jobs;
  arrived.jobs.resize(engine.state().arrived());
  Engine whole(fleet, arrived, policy, options);
  while (whole.state().now() < engine.state().now() && whole.step()) {
  }
  const FleetSample sample(fleet, 1000);
  Present present;
  look_at_present(whole.view(), sample, draw, present);
  if (present.jobs.empty()) return "";
  runs += present.standing.runs.size();
  JobTable rest;
  rest.jobs = present.jobs;
  Engine middle(fleet, rest, policy, options);
  middle.restart(rest, 1, present.standing);
  if (!whole.run() || !middle.run())
    return fmt::format("case {}: a job never ran\n{}", number, random.describe());
  for (std::size_t i = 0; i < present.numbers.size(); ++i) {
    const TimeUs off_us = middle.finish_us()[i] - whole.finish_us()[present.numbers[i]];
    if (std::abs(off_us) <= kRoundingUs) continue;
    return fmt::format("case {}: from {} us on, job {} ends {} us later\n{}", number,
                       present.standing.now_us, present.numbers[i], off_us, random.describe());
  }
  return "";
}

TEST(Standing, ARunFromTheMiddleGoesOnAsTheWhole) {
  std::size_t runs = 0;
  for (const char* kind : {"static/edf", "static/slowest-on-time", "none/shortest-remaining",
                           "count/cedf", "static/apparent-tardiness"}) {
    for (int i = 0; i < case_count(200); ++i) {
      const RandomCase random = random_case(37, static_cast<std::uint64_t>(i), kind);
      ASSERT_EQ(difference_from_the_middle(random, static_cast<std::uint64_t>(i), runs), "")
          << kind;
    }
  }
  EXPECT_GT(runs, 2 * static_cast<std::size_t>(case_count(200)));
}

}  // namespace
}  // namespace smartmig
