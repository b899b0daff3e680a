#include "study/simple_policies.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "study/search_static.h"

namespace smartmig {

std::vector<std::string> simple_rules() {
  std::vector<std::string> rules;
  for (const char* partitioner : {"none", "count"}) {
    for (const char* placer : {"edf", "cedf", "shortest-remaining", "slowest-on-time", "met"})
      rules.push_back(fmt::format("{}/{}", partitioner, placer));
  }
  rules.emplace_back("greedy");
  return rules;
}

Result<std::vector<std::string>> best_static_policies(const SuiteWorld& world,
                                                      const StaticSearch& search,
                                                      const SuiteCache& cache) {
  std::vector<std::string> policies;
  if (search.budget == 0) return policies;
  const std::string setting = to_json(world.setting()).dump();
  const std::string key = fmt::format("search-static {} {}", search.train_days, search.budget);
  if (const nlohmann::json found = cache.find(setting, key); found.is_array()) {
    for (const nlohmann::json& policy : found)
      if (policy.is_string()) policies.push_back(policy.get<std::string>());
    return policies;
  }
  const auto train = world.training_days(search.train_days);
  if (!train) return pass_on(train);
  for (const char* placer : {"shortest-remaining", "cedf"}) {
    SearchOptions options;
    options.placer = placer;
    options.budget = search.budget;
    options.keep = 1;
    options.threads = search.threads;
    const auto found = search_static(world.settings(), *train, options);
    // Every fixed layout may leave some job without a slice that it runs on.
    if (found) policies.push_back(fmt::format("static:{}/{}", found->best.front().layouts, placer));
  }
  if (const auto kept = cache.keep(setting, key, policies); !kept) return pass_on(kept);
  return policies;
}

}  // namespace smartmig
