// No policy anticipates: two job tables that agree in all that can be observed up to a time t
// (arrivals, beliefs, ends) and differ after it lead to the same decisions up to t. True times are
// doubled or quadrupled, with the beliefs kept: multiplying by a power of two is exact, so not a
// bit of what policies may see changes.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "foresight/named_policies.h"
#include "policy/place.h"
#include "random_case.h"

namespace smartmig {
namespace {

// All that decisions lead to, at one instant.
struct Observed {
  TimeUs at_us = 0;
  std::vector<std::uint64_t> numbers;
  friend bool operator==(const Observed&, const Observed&) = default;
};

Observed observe(const State& state) {
  Observed now{state.now(), {}};
  for (JobIndex job = 0; job < state.arrived(); ++job) {
    now.numbers.push_back(static_cast<std::uint64_t>(state.job_state(job).status));
    now.numbers.push_back(state.job_state(job).slice);
  }
  for (GpuIndex gpu = 0; gpu < state.fleet().gpu_count(); ++gpu) {
    now.numbers.push_back(state.gpu(gpu).target);
    now.numbers.push_back(state.gpu(gpu).present);
    now.numbers.push_back(state.gpu(gpu).awaited);
  }
  return now;
}

struct ObservedRun {
  std::vector<Observed> standings;
  std::vector<TimeUs> finish_us;
};

ObservedRun run_until(const Fleet& fleet, const JobTable& jobs, const Policy& policy,
                      const EngineOptions& options, TimeUs until_us) {
  Engine engine(fleet, jobs, policy, options);
  ObservedRun run;
  while (engine.step() && engine.state().now() <= until_us)
    run.standings.push_back(observe(engine.state()));
  run.finish_us.assign(engine.finish_us().begin(), engine.finish_us().end());
  return run;
}

// Beliefs from a quarter of the truth to four times it. Times become multiples of 16 us, so that
// every one of them is a whole number.
void add_beliefs(JobTable& table, Random& random) {
  for (Job& job : table.jobs) {
    for (TimeUs& us : job.time_us) us = us == 0 ? 0 : (us / 16 + 1) * 16;
    job.estimate_us = time_on_largest(job) * (TimeUs{1} << random.below(5)) / 4;
  }
}

// As far as can be observed up to t the same: who has not ended by then takes longer still, and who
// comes later is another job.
JobTable with_another_future(const JobTable& table, const ObservedRun& run, TimeUs t,
                             Random& random) {
  JobTable other = table;
  for (std::size_t j = 0; j < other.jobs.size(); ++j) {
    Job& job = other.jobs[j];
    const TimeUs times = TimeUs{2} << random.below(2);
    if (job.submit_us > t) {
      job.deadline_us += to_us(random.uniform(0, 100));
      job.estimate_us += to_us(random.uniform(0, 100));
    } else if (run.finish_us[j] >= 0 && run.finish_us[j] <= t) {
      continue;
    }
    for (TimeUs& us : job.time_us) us *= times;
  }
  return other;
}

using PolicyFor = std::function<Policy(const Fleet&, const JobTable&)>;

// "" where the decisions agree.
std::string difference(RandomCase random, const PolicyFor& policy_for, std::uint64_t number) {
  Random draw(11, "anticipation", number);
  const Fleet fleet = Fleet::parse(random.fleet).value();
  std::erase_if(random.events,
                [&](const GpuEvent& event) { return event.gpu >= fleet.gpu_count(); });
  add_beliefs(random.jobs, draw);
  if (draw.below(3) == 0) random.sigma = 1;
  const EngineOptions options = engine_options(random);
  const ObservedRun whole =
      run_until(fleet, random.jobs, policy_for(fleet, random.jobs), options, kNever - 1);
  const TimeUs t = whole.standings[draw.below(whole.standings.size())].at_us;
  const JobTable other = with_another_future(random.jobs, whole, t, draw);
  const ObservedRun again = run_until(fleet, other, policy_for(fleet, other), options, t);
  for (std::size_t i = 0; i < whole.standings.size() && whole.standings[i].at_us <= t; ++i) {
    if (i < again.standings.size() && again.standings[i] == whole.standings[i]) continue;
    return fmt::format("case {}, up to {} us: the decisions at {} us differ\n{}", number, t,
                       whole.standings[i].at_us, random.describe());
  }
  return "";
}

class Anticipation : public testing::TestWithParam<std::string> {};

TEST_P(Anticipation, IsBeyondEveryPolicy) {
  for (int i = 0; i < case_count(300); ++i) {
    const RandomCase random = random_case(29, static_cast<std::uint64_t>(i), GetParam());
    const auto make = [&](const Fleet& fleet, const JobTable&) {
      return make_named_policy(random.policy, fleet).value();
    };
    ASSERT_EQ(difference(random, make, static_cast<std::uint64_t>(i)), "");
  }
}

std::vector<std::string> every_policy() {
  std::vector<std::string> kinds = named_joint_policies();
  for (const std::string& partitioner : partitioner_names()) {
    for (const std::string& placer : placer_names()) kinds.push_back(partitioner + "/" + placer);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Policies, Anticipation, testing::ValuesIn(every_policy()),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           for (char& c : name) c = c == '/' || c == '-' ? '_' : c;
                           return name;
                         });

// On the fleets that the shipped networks are for.
TEST(AnticipationOfNetworks, IsBeyondThem) {
  const std::pair<std::string, std::string> learned[] = {
      {"3xA100-40GB", "mean-field/cedf"},
      {"3xA100-40GB", "mean-field/shortest-remaining"},
      {"1xA100-40GB", "one-gpu/cedf"},
      {"8xA100-40GB", "static:7,7,4-3,4-3,4-2-1,4-2-1,2-2-2-1,2-2-2-1/learned"}};
  for (const auto& [fleet_spec, policy] : learned) {
    const auto make = [&](const Fleet& fleet, const JobTable&) {
      return make_named_policy(policy, fleet).value();
    };
    for (int i = 0; i < case_count(300); ++i) {
      RandomCase random = random_case(31, static_cast<std::uint64_t>(i), "none/edf");
      random.fleet = fleet_spec;
      random.policy = policy;
      ASSERT_EQ(difference(random, make, static_cast<std::uint64_t>(i)), "");
    }
  }
}

// What no View gives away, it has from the table itself.
class Clairvoyant : public Placer {
 public:
  explicit Clairvoyant(const JobTable& truth) : truth_(&truth) {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<Clairvoyant>(*this); }
  void decide(View& view, std::vector<Start>& starts) override {
    ReadyOrder order(view);
    KindSet kinds = 0;
    while (const KindSet free = view.free().kinds()) {
      const JobIndex job = order.next(free, kinds);
      if (job == kNone) return;
      const bool is_short = time_on_largest(truth_->jobs[job]) < kMinuteUs;
      const SliceId slice = lowest_index(view, with_size(view.fleet(), free & kinds, is_short));
      view.mark_taken(slice);
      starts.push_back({job, slice, view.slice(slice).slot});
    }
  }

 private:
  const JobTable* truth_;
};

TEST(AnticipationByTrueTimes, IsFound) {
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const RandomCase random = random_case(29, static_cast<std::uint64_t>(i), "static/edf");
    const auto make = [&](const Fleet& fleet, const JobTable& jobs) {
      Policy policy = make_named_policy(random.policy, fleet).value();
      policy.placer = std::make_unique<Clairvoyant>(jobs);
      return policy;
    };
    found += !difference(random, make, static_cast<std::uint64_t>(i)).empty();
  }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace smartmig
