#include "study/search_static.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "foresight/named_policies.h"
#include "study/race.h"

namespace smartmig {
namespace {

// All choices that differ by `step` GPUs (or as many as there are) going from one layout to
// another.
std::vector<LayoutChoice> neighbours(const LayoutMenu& menu, const LayoutChoice& choice,
                                     std::size_t boards, std::size_t step) {
  std::vector<LayoutChoice> found;
  for (std::uint8_t board = 0; board < boards; ++board) {
    for (LayoutIndex from = 0; from < menu.size(board); ++from) {
      const std::size_t uses = menu.uses(choice, board, from);
      if (uses == 0) continue;
      for (LayoutIndex to = 0; to < menu.size(board); ++to) {
        if (to != from) found.push_back(menu.moved(choice, board, from, to, std::min(step, uses)));
      }
    }
  }
  return found;
}

// Moves while a move helps, then by smaller steps. Ends early where an earlier climb has passed.
void climb(const LayoutMenu& menu, Race& race, Scored at, std::size_t boards, std::size_t keep,
           std::size_t first_step, std::set<LayoutChoice>& passed) {
  for (std::size_t step = first_step; step > 0;) {
    if (step == 1 && !passed.insert(at.choice).second) return;
    const auto ranked = race.run(neighbours(menu, at.choice, boards, step), keep);
    if (!ranked.empty() && ranked.front().et < at.et) {
      at = ranked.front();
    } else {
      step /= 2;
    }
    if (race.out_of_budget()) return;
  }
}

}  // namespace

Result<SearchResult> search_static(const RunSettings& settings, std::span<const DayTable> train,
                                   const SearchOptions& options, Progress* progress) {
  SM_CHECK(!train.empty() && options.keep > 0);
  const Fleet& fleet = *settings.fleet;
  LayoutMenu menu(fleet);
  // Twice: the first reading adds what the menu lacks.
  std::vector<LayoutChoice> given;
  for (int reading = 0; reading < 2; ++reading) {
    given.clear();
    for (const std::string& list : options.starts) {
      auto choice = menu.parse(list);
      if (!choice) return pass_on(choice);
      given.push_back(std::move(*choice));
    }
  }
  auto policy = make_named_policy("none/" + options.placer, fleet,
                                  {settings.energy_weight, settings.engine.seed});
  if (!policy) return pass_on(policy);
  policy->name = options.placer;

  Race race(settings, menu, train, *policy, options.budget, options.threads, progress);
  std::vector<LayoutChoice> alike;
  for (std::size_t k = 0; k < menu.longest(); ++k) alike.push_back(menu.all_alike(k));
  // What was given is scored on all days, whatever the race says of it.
  std::vector<Scored> starts = race.run(given, std::max<std::size_t>(given.size(), 1));
  const auto ranked = race.run(alike, options.keep);
  if (race.out_of_budget()) {
    return fail("--budget: found {}, expected at least {} to score what the search starts from",
                options.budget, (menu.longest() + given.size()) * train.size());
  }
  const auto name_of = [&](const Scored& scored) {
    return FoundLayouts{menu.name(scored.choice), scored.et};
  };
  SearchResult result;
  result.start = name_of(ranked.front());
  if (!given.empty()) {
    const auto at = std::find_if(starts.begin(), starts.end(),
                                 [&](const Scored& s) { return s.choice == given.front(); });
    result.start = name_of(*at);
  }
  starts.insert(starts.end(), ranked.begin(), ranked.end());
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Scored& a, const Scored& b) { return a.et < b.et; });
  starts.resize(std::min(starts.size(), options.keep));

  const std::size_t first_step = std::max<std::size_t>(1, fleet.gpu_count() / 8);
  std::set<LayoutChoice> passed;
  for (const Scored& start : starts) {
    if (race.out_of_budget()) break;
    climb(menu, race, start, fleet.boards().size(), options.keep, first_step, passed);
  }
  for (const Scored& scored : race.finished()) {
    if (result.best.size() < options.keep) result.best.push_back(name_of(scored));
  }
  if (std::isinf(result.best.front().train_et)) return fail("{}", race.why_infinite());
  std::erase_if(result.best, [](const FoundLayouts& found) { return std::isinf(found.train_et); });
  result.simulated_days = race.simulated();
  result.candidates = race.candidates();
  result.out_of_budget = race.out_of_budget();
  return result;
}

}  // namespace smartmig
