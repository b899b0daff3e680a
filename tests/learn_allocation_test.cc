// Training allocates nothing once it is warm. What the matrix library takes by itself is not
// counted here: its blocks come from the stack.
#include <gtest/gtest.h>

#include "counted_allocation.h"
#include "learn/ppo.h"
#include "learn/toy_environment.h"

namespace smartmig {
namespace {

TEST(NoAllocationInTraining, AfterTheFirstIteration) {
  for (bool clipped : {true, false}) {
    PpoSettings settings;
    settings.steps = 40'000;
    settings.environments = 40;
    settings.rollout_steps = 32;
    settings.minibatch = 500;
    settings.epochs = 2;
    settings.restart_every = 2;
    settings.keep_options = 2;
    settings.clipped = clipped;
    ToyEnvironment<TugTask> environment(settings.environments, 1);
    WorkerPool pool(1);
    Ppo ppo(settings, {.hidden = {32, 24, 40}}, environment, pool);
    ppo.iterate();
    const long before = allocations_so_far();
    for (int i = 0; i < 5; ++i) ppo.iterate();
    EXPECT_EQ(allocations_so_far() - before, 0) << clipped;
  }
}

}  // namespace
}  // namespace smartmig
