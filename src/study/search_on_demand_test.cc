#include "study/search_on_demand.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/registry.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

// Jobs of the papers' four profiles at a fixed rate.
std::vector<DayTable> asking_days(std::size_t count, double rate) {
  std::vector<DayTable> tables;
  for (std::size_t day = 0; day < count; ++day) {
    GeneratorOptions options;
    options.fixed_rate = true;
    options.rate = rate;
    options.count = 100;
    options.day = day;
    tables.push_back(std::make_shared<const JobTable>(generate(options)));
  }
  return tables;
}

RunSettings real_settings(const Fleet& fleet) {
  RunSettings settings;
  settings.fleet = &fleet;
  settings.engine.costs = Costs::real();
  settings.engine.preemption = Preemption::kOff;
  return settings;
}

double mean_et_of(const RunSettings& settings, std::span<const DayTable> train,
                  const std::string& spec) {
  double sum = 0;
  const Policy policy = *make_policy(spec, *settings.fleet);
  for (std::size_t day = 0; day < train.size(); ++day)
    sum += run_day(settings, policy, *train[day], kTrainingDays + day)->et;
  return sum / static_cast<double>(train.size());
}

TEST(SearchOnDemand, NoChangeOfOneProfileIsBetterThanWhatItFinds) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  const RunSettings settings = real_settings(fleet);
  const auto train = asking_days(3, 0.7);
  const auto found = search_on_demand(settings, train, {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->best.size(), 3u);
  const double best = found->best.front().train_et;
  EXPECT_NEAR(best, mean_et_of(settings, train, found->best.front().policy), 1e-9 * best);
  EXPECT_LT(best, found->whole.train_et);
  // Every size of every profile in turn.
  const std::string& word = found->best.front().policy;
  for (std::size_t equals = word.find('='); equals != std::string::npos;
       equals = word.find('=', equals + 1)) {
    for (const char size : {'1', '2', '3', '4', '7'}) {
      std::string other = word;
      other[equals + 1] = size;
      EXPECT_GE(mean_et_of(settings, train, other), best * (1 - 1e-12)) << other;
    }
  }
}

TEST(SearchOnDemand, SaysWhenThereIsNothingToTuneOrTooLittleToBeginWith) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  const auto train = asking_days(1, 0.3);
  JobTable plain = *train[0];
  for (Job& job : plain.jobs) job.profile = kNoProfile;
  const std::vector<DayTable> without = {std::make_shared<const JobTable>(plain)};
  EXPECT_EQ(search_on_demand(real_settings(fleet), without, {}).error().message,
            "--on-demand: no job has a speed profile, expected jobs with a column profile");
  OnDemandSearchOptions small;
  small.budget = 4;
  EXPECT_EQ(search_on_demand(real_settings(fleet), train, small).error().message,
            "--budget: found 4, expected at least 5 to score what the search starts from");
}

TEST(SearchOnDemand, IsTheSameOnAnyNumberOfThreads) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  const auto train = asking_days(2, 0.3);
  OnDemandSearchOptions one, two;
  one.threads = 1;
  two.threads = 2;
  const auto a = search_on_demand(real_settings(fleet), train, one);
  const auto b = search_on_demand(real_settings(fleet), train, two);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->best.front().policy, b->best.front().policy);
  EXPECT_EQ(a->best.front().train_et, b->best.front().train_et);
  EXPECT_EQ(a->simulated_days, b->simulated_days);
}

}  // namespace
}  // namespace smartmig
