#include "study/search_static.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mig/layout.h"
#include "policy/registry.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

std::vector<DayTable> days(std::size_t count, double rate) {
  std::vector<DayTable> tables;
  for (std::size_t day = 0; day < count; ++day) {
    GeneratorOptions options;
    options.fixed_rate = true;
    options.rate = rate;
    options.count = 150;
    options.day = day;
    tables.push_back(std::make_shared<const JobTable>(generate(options)));
  }
  return tables;
}

RunSettings settings_for(const Fleet& fleet) {
  RunSettings settings;
  settings.fleet = &fleet;
  return settings;
}

double mean_et(const RunSettings& settings, std::span<const DayTable> train,
               const std::string& policy) {
  double sum = 0;
  const Policy made = *make_policy(policy, *settings.fleet);
  for (const DayTable& day : train) sum += run_day(settings, made, *day, 0)->et;
  return sum / static_cast<double>(train.size());
}

// The least mean ET over every multiset of maximal layouts, by trying them all. `list` is the start
// of a list of layouts, and layouts before `from` have had their turn.
double best_of_all(const RunSettings& settings, std::span<const DayTable> train,
                   const std::string& list = "", std::size_t gpu = 0, std::size_t from = 0) {
  if (gpu == settings.fleet->gpu_count())
    return mean_et(settings, train, "static:" + list + "/cedf");
  const Board& board = settings.fleet->board(0);
  const auto all = layouts(board, base_slots(board));
  double best = 1e300;
  for (std::size_t next = from; next < all.size(); ++next) {
    const std::string longer = list + (gpu ? "," : "") + layout_name(board, all[next]);
    best = std::min(best, best_of_all(settings, train, longer, gpu + 1, next));
  }
  return best;
}

TEST(SearchStatic, FindsWhatTryingEveryPairOfLayoutsFinds) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  for (const double rate : {0.5, 1.0, 1.5}) {
    const auto train = days(4, rate);
    const auto found = search_static(settings_for(fleet), train, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(found->out_of_budget);
    EXPECT_NEAR(found->best.front().train_et, best_of_all(settings_for(fleet), train), 1e-9)
        << "rate " << rate;
  }
}

TEST(SearchStatic, FindsWhatTryingEveryTripleOfLayoutsFinds) {
  const Fleet fleet = *Fleet::parse("3xA100-40GB");
  for (const double rate : {1.0, 2.0}) {
    const auto train = days(2, rate);
    const auto found = search_static(settings_for(fleet), train, {});
    ASSERT_TRUE(found) << found.error().message;
    const double best = best_of_all(settings_for(fleet), train);
    EXPECT_GE(found->best.front().train_et, best * (1 - 1e-9)) << "rate " << rate;
    EXPECT_LE(found->best.front().train_et, best * (1 + 1e-9)) << "rate " << rate;
  }
}

TEST(SearchStatic, GoesFurtherThanOneMoveFromAFleetThatIsAlike) {
  const Fleet fleet = *Fleet::parse("6xA100-40GB");
  const RunSettings settings = settings_for(fleet);
  const auto train = days(2, 4);
  const Board& board = fleet.board(0);
  double best = 1e300;
  for (const SlotSet most : layouts(board, base_slots(board))) {
    for (const SlotSet one : layouts(board, base_slots(board))) {
      const std::string policy =
          fmt::format("static:{}*5,{}/cedf", layout_name(board, most), layout_name(board, one));
      best = std::min(best, mean_et(settings, train, policy));
    }
  }
  const auto found = search_static(settings, train, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LT(found->best.front().train_et, best * 0.999);
}

TEST(SearchStatic, GivesTheSameOnAnyNumberOfThreads) {
  const Fleet fleet = *Fleet::parse("2xA100-40GB+1xA30");
  const auto train = days(3, 1);
  SearchOptions options;
  options.threads = 1;
  const auto one = search_static(settings_for(fleet), train, options);
  options.threads = 4;
  const auto four = search_static(settings_for(fleet), train, options);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->simulated_days, four->simulated_days);
  ASSERT_EQ(one->best.size(), four->best.size());
  for (std::size_t i = 0; i < one->best.size(); ++i) {
    EXPECT_EQ(one->best[i].layouts, four->best[i].layouts);
    EXPECT_EQ(one->best[i].train_et, four->best[i].train_et);
  }
}

TEST(SearchStatic, NeverFindsWorseThanWhatItStartsFrom) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  const auto train = days(3, 2);
  SearchOptions options;
  options.starts = {"3-2-2,7,4-3*2"};
  const auto found = search_static(settings_for(fleet), train, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->start.layouts, "7,4-3*2,3-2-2");
  EXPECT_LE(found->best.front().train_et, found->start.train_et);
  EXPECT_TRUE(std::is_sorted(
      found->best.begin(), found->best.end(),
      [](const FoundLayouts& a, const FoundLayouts& b) { return a.train_et < b.train_et; }));
}

TEST(SearchStatic, KeepsToItsBudget) {
  const Fleet fleet = *Fleet::parse("4xA100-40GB");
  const auto train = days(4, 2);
  SearchOptions options;
  options.budget = 60;
  const auto found = search_static(settings_for(fleet), train, options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LE(found->simulated_days, 60u);
  EXPECT_TRUE(found->out_of_budget);
  options.budget = 5;
  EXPECT_FALSE(search_static(settings_for(fleet), train, options));
}

TEST(SearchStatic, PassesOverLayoutsOnWhichAJobCanNeverRun) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB");
  JobTable table = *days(1, 1).front();
  table.jobs[3].memory_mib = 30'000;  // Only a 7g has that much.
  const std::vector<DayTable> train = {std::make_shared<const JobTable>(table)};
  const auto found = search_static(settings_for(fleet), train, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->best.size(), 1u);
  EXPECT_EQ(found->best.front().layouts, "7");

  table.jobs[3].memory_mib = 1 << 20;
  const std::vector<DayTable> hopeless = {std::make_shared<const JobTable>(table)};
  const auto none = search_static(settings_for(fleet), hopeless, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("never ran"), std::string::npos);
}

}  // namespace
}  // namespace smartmig
