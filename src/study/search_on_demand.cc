#include "study/search_on_demand.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/thread_pool.h"
#include "foresight/named_policies.h"
#include "workload/catalogue.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

using Sizes = std::vector<int>;  // Compute sizes, one for each profile that the jobs have.

class RequestSearch {
 public:
  RequestSearch(const RunSettings& settings, std::span<const DayTable> train,
                const OnDemandSearchOptions& options, Progress* progress)
      : settings_(settings), train_(train), options_(options), progress_(progress) {
    std::set<std::uint16_t> found;
    for (const DayTable& day : train) {
      for (const Job& job : day->jobs) {
        if (job.profile != kNoProfile) found.insert(job.profile);
      }
    }
    for (const std::uint16_t profile : found)
      names_.push_back(Catalogue::shipped().profiles()[profile].name);
    std::set<int> sizes;
    for (const SliceKind& kind : settings.fleet->kinds()) {
      if (kind.base) sizes.insert(kind.compute);
    }
    sizes_.assign(sizes.begin(), sizes.end());
  }

  bool has_profiles() const { return !names_.empty(); }
  std::size_t days_to_begin() const { return sizes_.size() * train_.size(); }
  std::string word(const Sizes& sizes) const {
    std::string text = "on-demand:";
    for (std::size_t i = 0; i < names_.size(); ++i)
      text += fmt::format("{}{}={}", i == 0 ? "" : "+", names_[i], sizes[i]);
    return options_.rules.empty() ? text : text + "," + options_.rules;
  }

  // All profiles alike, in each size of the fleet.
  std::vector<Sizes> alike() const {
    std::vector<Sizes> all;
    for (const int size : sizes_) all.emplace_back(names_.size(), size);
    return all;
  }
  // One profile in another size.
  std::vector<Sizes> neighbours(const Sizes& sizes) const {
    std::vector<Sizes> all;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (const int size : sizes_) {
        if (size == sizes[i]) continue;
        all.push_back(sizes);
        all.back()[i] = size;
      }
    }
    return all;
  }

  // Scores those that have no score yet, in order, as far as the budget goes.
  Result<void> score(const std::vector<Sizes>& candidates) {
    struct Run {
      const Sizes* sizes;
      Policy policy;
      std::size_t day;
      double et = 0;
      std::string error;
    };
    std::vector<Run> runs;
    for (const Sizes& sizes : candidates) {
      if (scores_.contains(sizes)) continue;
      if (simulated_ + train_.size() > options_.budget) {
        out_of_budget_ = true;
        break;
      }
      auto policy = make_named_policy(word(sizes), *settings_.fleet,
                                      {settings_.energy_weight, settings_.engine.seed});
      if (!policy) return pass_on(policy);
      for (std::size_t day = 0; day < train_.size(); ++day)
        runs.push_back({&sizes, *policy, day, 0, {}});
      scores_[sizes] = 0;
      simulated_ += train_.size();
    }
    parallel_for(runs.size(), options_.threads, [&](std::size_t i) {
      Run& run = runs[i];
      const auto metrics =
          run_day(settings_, run.policy, *train_[run.day], kTrainingDays + run.day);
      run.et = metrics ? metrics->et : std::numeric_limits<double>::infinity();
      if (!metrics) run.error = metrics.error().message;
      if (progress_) progress_->step();
    });
    for (const Run& run : runs) {
      scores_[*run.sizes] += run.et / static_cast<double>(train_.size());
      if (why_infinite_.empty()) why_infinite_ = run.error;
    }
    return {};
  }

  // Best first; ties go to the smaller sizes.
  std::vector<std::pair<double, Sizes>> ranked() const {
    std::vector<std::pair<double, Sizes>> all;
    for (const auto& [sizes, et] : scores_) all.emplace_back(et, sizes);
    std::sort(all.begin(), all.end());
    return all;
  }
  double et(const Sizes& sizes) const { return scores_.at(sizes); }
  int largest() const { return sizes_.back(); }
  std::size_t profiles() const { return names_.size(); }
  std::size_t simulated() const { return simulated_; }
  std::size_t candidates() const { return scores_.size(); }
  bool out_of_budget() const { return out_of_budget_; }
  const std::string& why_infinite() const { return why_infinite_; }

 private:
  const RunSettings& settings_;
  std::span<const DayTable> train_;
  const OnDemandSearchOptions& options_;
  Progress* progress_;
  std::vector<std::string> names_;
  std::vector<int> sizes_;
  std::map<Sizes, double> scores_;
  std::size_t simulated_ = 0;
  bool out_of_budget_ = false;
  std::string why_infinite_;
};

}  // namespace

Result<OnDemandSearchResult> search_on_demand(const RunSettings& settings,
                                              std::span<const DayTable> train,
                                              const OnDemandSearchOptions& options,
                                              Progress* progress) {
  SM_CHECK(!train.empty() && options.keep > 0);
  RequestSearch search(settings, train, options, progress);
  if (!search.has_profiles())
    return fail("--on-demand: no job has a speed profile, expected jobs with a column profile");
  if (search.days_to_begin() > options.budget) {
    return fail("--budget: found {}, expected at least {} to score what the search starts from",
                options.budget, search.days_to_begin());
  }
  if (const auto scored = search.score(search.alike()); !scored) return pass_on(scored);
  // From the best, and from the second best, as the first way may end in a corner.
  const auto starts = search.ranked();
  for (std::size_t i = 0; i < std::min<std::size_t>(2, starts.size()); ++i) {
    Sizes at = starts[i].second;
    for (bool moved = true; moved && !search.out_of_budget();) {
      const std::vector<Sizes> next = search.neighbours(at);
      if (const auto scored = search.score(next); !scored) return pass_on(scored);
      moved = false;
      const auto known = search.ranked();
      for (const auto& [et, sizes] : known) {
        if (et >= search.et(at)) break;
        if (std::find(next.begin(), next.end(), sizes) == next.end()) continue;
        at = sizes;
        moved = true;
        break;
      }
    }
  }
  OnDemandSearchResult result;
  for (const auto& [et, sizes] : search.ranked()) {
    if (result.best.size() < options.keep && et < std::numeric_limits<double>::infinity())
      result.best.push_back({search.word(sizes), et});
  }
  if (result.best.empty()) return fail("{}", search.why_infinite());
  const Sizes whole(search.profiles(), search.largest());
  result.whole = {search.word(whole), search.et(whole)};
  result.simulated_days = search.simulated();
  result.candidates = search.candidates();
  result.out_of_budget = search.out_of_budget();
  return result;
}

}  // namespace smartmig
