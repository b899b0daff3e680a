// The engine against the slow reference of tests/reference/, on random small cases: every policy,
// all costs and preemption modes, several boards, failures, estimate errors. Ends and deadlines
// must agree to the microsecond.
#include <gtest/gtest.h>

#include "foresight/named_policies.h"
#include "random_case.h"
#include "reference_setup.h"
#include "sim/metrics.h"

namespace smartmig {
namespace {

void expect_agreement(const RandomCase& random) {
  SCOPED_TRACE(random.describe());
  const Fleet fleet = Fleet::parse(random.fleet).value();
  const Policy policy = make_named_policy(random.policy, fleet).value();
  const EngineOptions options = engine_options(random);
  Engine engine(fleet, random.jobs, policy, options);
  const auto done = engine.run();
  const reference::Outcome expected = reference::run(to_setup(random, fleet, options.costs));
  for (std::size_t i = 0; i < random.jobs.jobs.size(); ++i) {
    ASSERT_EQ(engine.finish_us()[i], expected.finish_us[i]) << "end of job " << i;
    ASSERT_EQ(engine.state().job_state(static_cast<JobIndex>(i)).deadline_us,
              expected.deadline_us[i])
        << "deadline of job " << i;
  }
  if (!done) return;  // Both left the same jobs behind; a run without an end has no sums.
  EXPECT_EQ(engine.events(), expected.events);
  EXPECT_EQ(engine.repartitions(), expected.repartitions);
  EXPECT_EQ(engine.state().preemptions(), expected.preemptions);
  const double energy = engine.energy_j();
  EXPECT_NEAR(energy, expected.energy_j, 1e-9 * (1 + expected.energy_j));
}

class Agreement : public testing::TestWithParam<std::string> {};

TEST_P(Agreement, WithTheReferenceOnRandomCases) {
  const int cases = case_count(1500);
  for (int i = 0; i < cases; ++i) {
    expect_agreement(random_case(7, static_cast<std::uint64_t>(i), GetParam()));
    if (testing::Test::HasFailure()) {
      FAIL() << "case " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Agreement, testing::ValuesIn(policy_kinds()),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           for (char& c : name) c = c == '/' || c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace smartmig
