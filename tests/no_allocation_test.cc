// The event loop allocates nothing once its vectors have grown. gtest's own allocations lie outside
// the stretches that are counted.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "counted_allocation.h"
#include "foresight/named_policies.h"
#include "learn/environments.h"
#include "policy/learned.h"
#include "sim/engine.h"

namespace smartmig {
namespace {

constexpr int kBurst = 300;
constexpr int kSteady = 4000;

// A burst at the start, so that every queue grows past what comes later, then a steady load of
// about half the fleet.
JobTable burst_then_steady() {
  JobTable table;
  Random random(1, "no allocation");
  TimeUs now = 0;
  for (int i = 0; i < kBurst + kSteady; ++i) {
    if (i >= kBurst) now += i == kBurst ? kHourUs : to_us(random.exponential(4));
    Job job;
    job.submit_us = now;
    job.kind = random.below(5) ? JobKind::kInference : JobKind::kTraining;
    const double first_s = random.uniform(10, 200);
    for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(first_s / kSizes[size]);
    job.deadline_us = now + 2 * job.time_us[kSizeCount - 1];
    table.jobs.push_back(job);
  }
  table.nominal_days = 1;
  return table;
}

// Allocations over the steps between the end of the burst and the end of the run.
const Fleet& eight_gpus() {
  static const Fleet fleet = *Fleet::parse("8xA100-40GB");
  return fleet;
}

long allocations_when_warm(const Policy& policy, Preemption preemption) {
  static const JobTable jobs = burst_then_steady();
  EngineOptions options;
  options.preemption = preemption;
  Engine engine(eight_gpus(), jobs, policy, options);
  while (engine.completed() < kBurst + 500 && engine.step()) {
  }
  const long before = allocations_so_far();
  int steps = 0;
  while (engine.step()) ++steps;
  const long counted = allocations_so_far() - before;
  EXPECT_EQ(engine.completed(), jobs.jobs.size());
  EXPECT_GT(steps, kSteady) << "that many steps must be counted";
  return counted;
}

long allocations_when_warm(const std::string& spec, Preemption preemption) {
  return allocations_when_warm(*make_named_policy(spec, eight_gpus()), preemption);
}

const std::string kLayouts = "7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1";

class NoAllocation : public testing::TestWithParam<std::string> {};

TEST_P(NoAllocation, InTheEventLoopUnderFreePreemption) {
  EXPECT_EQ(allocations_when_warm("static:" + kLayouts + "/" + GetParam(), Preemption::kFree), 0);
}

TEST_P(NoAllocation, InTheEventLoopWithoutPreemption) {
  EXPECT_EQ(allocations_when_warm("static:" + kLayouts + "/" + GetParam(), Preemption::kOff), 0);
}

INSTANTIATE_TEST_SUITE_P(Placers, NoAllocation, testing::ValuesIn(placer_names()),
                         [](const auto& placer) {
                           std::string name = placer.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(NoAllocationWhileLayoutsChange, UnderPoliciesThatChangeThem) {
  for (const Preemption preemption :
       {Preemption::kFree, Preemption::kCheckpoint, Preemption::kOff}) {
    EXPECT_EQ(allocations_when_warm("count/cedf", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("greedy", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("prices", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("queue-prices", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("miso", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("on-demand:on-time", preemption), 0) << to_string(preemption);
    EXPECT_EQ(allocations_when_warm("on-demand:on-time,pack,strict,keep", preemption), 0)
        << to_string(preemption);
  }
}

// The futures of one look are larger than those of another: what it takes to simulate them grows
// until each has been seen, in the order of each placer. A run that is made again and again finds
// it all there.
TEST(NoAllocationWhileLookingAhead, InARunThatIsMadeAgainAndAgain) {
  JobTable jobs = burst_then_steady();
  jobs.jobs.erase(jobs.jobs.begin() + 100, jobs.jobs.begin() + kBurst);
  jobs.jobs.resize(600);
  for (const Preemption preemption :
       {Preemption::kFree, Preemption::kCheckpoint, Preemption::kOff}) {
    EngineOptions options;
    options.preemption = preemption;
    Engine engine(eight_gpus(), jobs, *make_named_policy("smartmig", eight_gpus()), options);
    for (int again = 0; again < 2; ++again) {
      ASSERT_TRUE(engine.run().has_value());
      engine.restart(jobs, options.seed);
    }
    const long before = allocations_so_far();
    ASSERT_TRUE(engine.run().has_value());
    EXPECT_EQ(allocations_so_far() - before, 0) << to_string(preemption);
  }
}

TEST(NoAllocationWhileJobsAreDisplaced, UnderCheckpoint) {
  EXPECT_EQ(allocations_when_warm("static:" + kLayouts + "/cedf", Preemption::kCheckpoint), 0);
}

// Over a whole episode, after one that was the same.
long allocations_in_training(VectorEnvironment& environment) {
  const ActionShape shape = environment.actions();
  const auto options = static_cast<std::size_t>(shape.options);
  std::vector<std::uint16_t> chosen(static_cast<std::size_t>(shape.size()));
  WorkerPool pool(1);
  long before = 0;
  for (int episode = 0; episode < 2; ++episode) {
    before = allocations_so_far();
    do {
      std::fill(chosen.begin(), chosen.end(), 0);
      for (std::size_t head = 0; head < environment.members().size(); ++head) {
        // The next allowed option after its own, so that layouts change all the time.
        std::size_t option = (head + 1) % options;
        while (!environment.masks()[head * options + option]) option = (option + 1) % options;
        chosen[head * options + option] = environment.members()[head];
      }
      environment.step(chosen, pool);
    } while (!environment.ended()[0]);
  }
  return allocations_so_far() - before;
}

template <class Settings>
long allocations_in(Settings settings) {
  settings.episodes.environments = 1;
  settings.episodes.stagger = false;
  return allocations_in_training(*make_environment(settings));
}

TEST(NoAllocationWhileLearning, InAnyEnvironmentOnceItHasBeenThroughAnEpisode) {
  DayPoolOptions days;
  days.days = 1;
  days.rates = {8};
  EXPECT_EQ(allocations_in(course_placement(days)), 0);
  EXPECT_EQ(allocations_in(mean_field("8xA100-40GB", "cedf", days).value()), 0);
  EXPECT_EQ(allocations_in(size_placement("8xA100-40GB", "count", days).value()), 0);
  days.rates = {2};
  EXPECT_EQ(allocations_in(one_gpu("A100-40GB", "cedf", days).value()), 0);
}

std::shared_ptr<const LearnedPolicy> random_network(LearnedSettings settings) {
  settings.board = "A100-40GB";
  const LearnedShape shape = learned_shape(settings, eight_gpus().board(0));
  Network network({.inputs = shape.inputs,
                   .hidden = {16},
                   .outputs = shape.heads * shape.options,
                   .value_head = true,
                   .activation = Activation::kTanh});
  Random random(1, "no allocation");
  network.initialise(random);
  Normaliser normaliser;
  normaliser.mean.assign(static_cast<std::size_t>(shape.inputs), 0);
  normaliser.scale.assign(static_cast<std::size_t>(shape.inputs), 1);
  return std::make_shared<const LearnedPolicy>(
      LearnedPolicy{std::move(settings), std::move(network), std::move(normaliser)});
}

TEST(NoAllocationUnderLearnedPolicies, OnceTheirRoomHasGrown) {
  Policy layouts = *make_named_policy("none/cedf", eight_gpus());
  layouts.partitioner = make_learned_layouts(random_network({}), 1);
  Policy sizes = *make_named_policy("count/cedf", eight_gpus());
  sizes.placer = make_learned_placer(random_network({.kind = LearnedKind::kSize}), 1);
  Policy slices = *make_named_policy("static:" + kLayouts + "/edf", eight_gpus());
  LearnedSettings settings = {.kind = LearnedKind::kPlacement};
  settings.slices = slice_sizes(eight_gpus(), *parse_layout_list(kLayouts, eight_gpus()));
  slices.placer = make_learned_placer(random_network(settings), 1);
  for (const Preemption preemption : {Preemption::kFree, Preemption::kOff}) {
    EXPECT_EQ(allocations_when_warm(layouts, preemption), 0);
    EXPECT_EQ(allocations_when_warm(sizes, preemption), 0);
    EXPECT_EQ(allocations_when_warm(slices, preemption), 0);
  }
}

TEST(Allocation, IsCountedAtAll) {
  const long before = allocations_so_far();
  std::vector<int> grown(100);
  EXPECT_EQ(grown.size(), 100u);
  EXPECT_GT(allocations_so_far(), before);
}

}  // namespace
}  // namespace smartmig
