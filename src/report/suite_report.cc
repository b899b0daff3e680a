#include "report/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/run_summary.h"
#include "report/table.h"

namespace smartmig {
namespace {

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json ratio_json(const Ratio& ratio) {
  return {{"mean", ratio.mean},
          {"low95", number_or_null(ratio.low95)},
          {"high95", number_or_null(ratio.high95)}};
}

// The one that both halves chose, or both with a bar between them.
std::string best_simple(const SuiteRow& row) {
  if (row.chosen_on_even == row.chosen_on_odd) return row.chosen_on_even;
  return row.chosen_on_even + " | " + row.chosen_on_odd;
}

std::optional<double> above_bound_pct(const SuiteRow& row) {
  if (!row.bound_et || !row.et_on_bound_days || *row.bound_et <= 0) return std::nullopt;
  return 100 * (*row.et_on_bound_days / *row.bound_et - 1);
}

nlohmann::ordered_json row_json(const SuiteRow& row) {
  nlohmann::ordered_json json = {{"setting", row.setting.name()}, {"policy", row.policy}};
  if (!row.error.empty()) {
    json["error"] = row.error;
    for (const char* key : {"best_simple", "et", "ratio", "best_in_hindsight"}) json[key] = nullptr;
  } else {
    json["best_simple"] = best_simple(row);
    json["et"] = row.et;
    json["ratio"] = ratio_json(row.ratio);
    json["best_in_hindsight"] = row.in_hindsight;
  }
  json["draws"] = row.draws;
  json["bound_et"] = number_or_null(row.bound_et);
  if (row.error.empty()) {
    json["et_on_bound_days"] = number_or_null(row.et_on_bound_days);
    json["stopped_at_limit"] = row.at_limit;
    json["best_simple_of"] = {{"even_days", row.chosen_on_even}, {"odd_days", row.chosen_on_odd}};
    json["hindsight_ratio"] = ratio_json(row.hindsight_ratio);
    json["p99_wait_s"] = row.p99_wait_s;
    json["worst_wait_s"] = row.worst_wait_s;
    json["hindsight_p99_wait_s"] = row.simple_p99_wait_s;
    json["hindsight_worst_wait_s"] = row.simple_worst_wait_s;
  }
  json["description"] = describe(row.setting);
  json["details"] = to_json(row.setting);
  return json;
}

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.low95) return fmt::format("{:.3f}", ratio.mean);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.mean, *ratio.low95, *ratio.high95);
}

// A table of many layouts is no wider for it.
std::string short_policy(const std::string& policy) {
  constexpr std::size_t kLongest = 40;
  const std::size_t slash = policy.rfind('/');
  if (policy.size() <= kLongest || slash == std::string::npos) return policy;
  return policy.substr(0, 20) + "..." + policy.substr(slash);
}

struct SuiteCells {
  std::string setting, policy, et, simple, ratio, hindsight, bound, draws, wait, simple_wait;
};
SuiteCells cells_of(const SuiteRow& row) {
  SuiteCells cells;
  cells.setting = row.setting.name();
  cells.policy = row.policy;
  cells.draws = fmt::format("{}{}", row.draws, row.at_limit ? "*" : "");
  if (!row.error.empty()) {
    cells.ratio = "did not run all jobs";
    return cells;
  }
  cells.et = fmt::format("{:.4g}", row.et);
  cells.simple = short_policy(row.chosen_on_even);
  if (row.chosen_on_odd != row.chosen_on_even)
    cells.simple += " | " + short_policy(row.chosen_on_odd);
  cells.ratio = ratio_text(row.ratio);
  cells.hindsight = fmt::format("{:.3f}", row.hindsight_ratio.mean);
  if (const auto above = above_bound_pct(row)) cells.bound = fmt::format("{:+.1f}", *above);
  cells.wait = fmt::format("{} / {}", human_time(row.p99_wait_s), human_time(row.worst_wait_s));
  cells.simple_wait = fmt::format("{} / {}", human_time(row.simple_p99_wait_s),
                                  human_time(row.simple_worst_wait_s));
  return cells;
}

std::string policy_summary(const SuiteSummary& summary) {
  if (summary.settings == 0)
    return fmt::format("{}: did not run all jobs in any of {} settings.\n", summary.policy,
                       summary.failed);
  std::string text = fmt::format(
      "{}: geometric mean {:.3f} over {} setting{} (ratios below {:.2f} counted as that); at most "
      "{:.0f} % above the best simple policy in {}; above {:.2f} by the low end of the interval in "
      "{}; worst {:.3f}",
      summary.policy, summary.geometric_mean, summary.settings, summary.settings == 1 ? "" : "s",
      SuiteSummary::kLeastRatio, 100 * (SuiteSummary::kWithin - 1), summary.within,
      SuiteSummary::kFarAbove, summary.far_above, summary.worst);
  if (summary.failed > 0) text += fmt::format("; did not run all jobs in {}", summary.failed);
  return text + ".\n";
}

std::string notes_text(const std::vector<SuiteRow>& rows) {
  std::string text =
      "Ratio: mean ET over that of the best simple policy, which is chosen on even days and scored "
      "on odd ones, and the reverse; below 1 the policy is better.\n";
  if (std::ranges::any_of(rows, &SuiteRow::at_limit))
    text += "* The interval was still too wide at the largest number of days.\n";
  return text;
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<SuiteRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SuiteRow& row : rows) list.push_back(row_json(row));
  return list;
}

std::string to_text(const std::vector<SuiteRow>& rows) {
  using Align = Table::Align;
  Table table({{"setting", Align::kLeft},
               {"policy", Align::kLeft},
               {"ET"},
               {"ratio [95 %]"},
               {"in hindsight"},
               {"% over bound"},
               {"days"},
               {"wait: 99 % / worst"},
               {"best simple policy", Align::kLeft}});
  for (const SuiteRow& row : rows) {
    const SuiteCells cells = cells_of(row);
    table.add_row({cells.setting, cells.policy, cells.et, cells.ratio, cells.hindsight, cells.bound,
                   cells.draws, cells.wait, cells.simple});
  }
  std::string text = table.text() + "\n" + notes_text(rows);
  for (const SuiteSummary& summary : summarise(rows)) text += policy_summary(summary);
  for (const SuiteRow& row : rows) {
    if (!row.error.empty())
      text += fmt::format("{}, {}: {}.\n", row.setting.name(), row.policy, row.error);
  }
  return text;
}

std::string suite_markdown(const std::vector<SuiteRow>& rows) {
  std::string text;
  for (const SuiteSummary& summary : summarise(rows)) text += "- " + policy_summary(summary);
  text += "\n" + notes_text(rows) +
          "\n| setting | policy | ET | best simple policy | ratio [95 %] | in hindsight | % over "
          "bound | days | wait, 99 % / worst | that of the best simple policy |\n"
          "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const SuiteRow& row : rows) {
    SuiteCells cells = cells_of(row);
    for (std::size_t at = 0; (at = cells.simple.find('|', at)) != std::string::npos; at += 2)
      cells.simple.insert(at, 1, '\\');
    text += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", cells.setting,
                        cells.policy, cells.et, cells.simple, cells.ratio, cells.hindsight,
                        cells.bound, cells.draws, cells.wait, cells.simple_wait);
  }
  text += "\n| setting | what was drawn |\n|---|---|\n";
  std::string last;
  for (const SuiteRow& row : rows) {
    if (row.setting.name() == last) continue;
    last = row.setting.name();
    text += fmt::format("| {} | {} |\n", last, describe(row.setting));
  }
  return text;
}

std::string to_text(const std::vector<SuiteSetting>& settings) {
  std::string text;
  for (const SuiteSetting& setting : settings)
    text += fmt::format("{}: {}\n", setting.name(), describe(setting));
  return text;
}

}  // namespace smartmig
