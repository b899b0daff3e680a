#include <gtest/gtest.h>

#include "policy/situation.h"

namespace smartmig {
namespace {

Job linear_job(double minutes_on_1g, JobKind kind = JobKind::kInference) {
  const double s = minutes_on_1g * kMinute;
  return make_job({s, s / 2, s / 3, s / 4, s / 7}, s / 7, kind);
}

// A GPU whose larger slices are busy for five more minutes, and a job that waits: where it starts.
std::vector<std::string> starts_of(const Job& job) {
  Situation on("A100-40GB", "4-2-1", {flat_job(5 * kMinute, 1e6), flat_job(5 * kMinute, 1e6), job},
               "prices", Preemption::kCheckpoint, Costs::real());
  on.run(0, 0, 0);
  on.run(1, 0, 4);
  on.arrive(2, 2);
  on.partition();
  std::vector<std::string> starts;
  for (const Start& start : on.decision.starts) starts.push_back(on.name(start));
  return starts;
}

TEST(Prices, AShortJobTakesTheSliceThatIsFree) {
  EXPECT_EQ(starts_of(linear_job(4)), std::vector<std::string>{"0:1@6"});
}

// On the free slice it would be there for days.
TEST(Prices, ALongJobThatCannotBeMovedWaitsForALargerSlice) {
  EXPECT_EQ(starts_of(linear_job(6000)), std::vector<std::string>{});
}

}  // namespace
}  // namespace smartmig
