#include "cli/search_on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/assumptions.h"
#include "cli/cli.h"
#include "cli/search_days.h"
#include "policy/on_demand.h"
#include "report/comparison.h"
#include "report/table.h"
#include "study/search_on_demand.h"

namespace smartmig {
namespace {

std::string request_training_text(const OnDemandSearchResult& found, std::size_t train_days) {
  Table table({{"policy", Table::Align::kLeft}, {"ET in training"}});
  for (const FoundRequests& requests : found.best)
    table.add_row({requests.policy, fmt::format("{:.4g}", requests.train_et)});
  return table.text() +
         fmt::format(
             "\nUse --policy {}\n{} choices of sizes, {} days simulated on {} training "
             "day{}; {}.\n\n",
             found.best.front().policy, found.candidates, found.simulated_days, train_days,
             train_days == 1 ? "" : "s",
             found.out_of_budget ? "the budget ended the search, more may help"
                                 : "no change of one profile helps any more");
}

nlohmann::ordered_json on_demand_json(const OnDemandSearchResult& found, const SearchDays& days,
                                      const Comparison& report) {
  nlohmann::ordered_json best = nlohmann::ordered_json::array();
  for (const FoundRequests& requests : found.best)
    best.push_back({{"policy", requests.policy}, {"train_et", requests.train_et}});
  return {{"policy", found.best.front().policy},
          {"train_days", days.train.size()},
          {"candidates", found.candidates},
          {"simulated_days", found.simulated_days},
          {"out_of_budget", found.out_of_budget},
          {"reported_on_training_days", days.same},
          {"best", std::move(best)},
          {"report", to_json(report)}};
}

// The best sizes that the search found, then the requests that need no search.
std::vector<std::string> policies_to_report(const OnDemandSearchResult& found,
                                            const std::string& rules, const SearchDays& days) {
  std::vector<std::string> specs;
  for (const FoundRequests& requests : found.best) specs.push_back(requests.policy);
  const auto add = [&](const std::string& spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  };
  add(found.whole.policy);
  const std::string behind = rules.empty() ? "" : "," + rules;
  add("on-demand:on-time" + behind);
  const auto asks = [](const DayTable& day) {
    return std::ranges::any_of(day->jobs,
                               [](const Job& job) { return job.request_millionths > 0; });
  };
  if (std::ranges::all_of(days.report, asks)) add("on-demand:asked" + behind);
  add("count/shortest-remaining");
  return specs;
}

Result<Comparison> compare_requests(const SearchOnDemandOptions& options, const RunSetup& setup,
                                    const OnDemandSearchResult& found, const SearchDays& days) {
  const auto policies =
      make_policies(setup.settings, policies_to_report(found, options.rules, days));
  if (!policies) return pass_on(policies);
  const DaySource source = [&](std::size_t day) -> Result<DayTable> { return days.report[day]; };
  Progress progress("search-static: runs to report on", days.report.size() * policies->size());
  auto report = compare(setup.settings, *policies, days.report.size(), source, options.run.threads,
                        &progress);
  if (!report) return pass_on(report);
  if (days.file) report->balance = days.file->balance;
  report->assumptions = list_assumptions(options.run, setup, days.file);
  return report;
}

}  // namespace

int run_search_on_demand(const SearchOnDemandOptions& options) {
  const auto setup = read_setup(options.run);
  if (!setup) return bad_input(setup.error().message);
  if (options.budget < 1)
    return bad_input(
        fmt::format("--budget: found {}, expected 1 or more simulated days", options.budget));
  const std::string behind = options.rules.empty() ? "" : "," + options.rules;
  if (const auto rules = OnDemandRules::parse("on-time" + behind); !rules)
    return bad_input(rules.error().message);
  const auto days =
      read_search_days(options.run, options.split_days, options.train_days, (*setup)->fleet);
  if (!days) return bad_input(days.error().message);
  auto folder = open_out(options.run);
  if (!folder) return bad_input(folder.error().message);

  const OnDemandSearchOptions search = {options.rules, static_cast<std::size_t>(options.budget), 3,
                                        options.run.threads};
  const auto found = [&] {
    Progress progress("search-static", search.budget);
    return search_on_demand((*setup)->settings, days->train, search, &progress);
  }();
  if (!found) return failed(found.error().message);
  const auto report = compare_requests(options, **setup, *found, *days);
  if (!report) return failed(report.error().message);
  const std::string json = on_demand_json(*found, *days, *report).dump(2) + "\n";
  if (*folder) {
    auto files = comparison_files(*report);
    files.push_back({"search.json", json});
    if (const auto written = (*folder)->write(files); !written)
      return failed(written.error().message);
  }
  if (options.run.json) {
    fmt::print("{}", json);
    return 0;
  }
  fmt::print("{}{}{}{}", request_training_text(*found, days->train.size()),
             to_text(*report, options.run.energy_weight),
             days->same ? "The same jobs were searched on: on others expect less.\n" : "",
             describe_setting(options.run, **setup, days->file));
  return 0;
}

}  // namespace smartmig
