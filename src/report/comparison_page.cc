#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "report/estimate_text.h"
#include "report/report_page.h"
#include "report/report_sections.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

using Cell = PageTable::Cell;

constexpr double kKwhPerJoule = 1 / 3.6e6;

std::optional<double> scaled(const std::optional<double>& value, double scale) {
  return value ? std::optional(*value * scale) : std::nullopt;
}

Cell estimate_cell(const Estimate& estimate, double scale) {
  return {fmt::format("{:.4g}", estimate.mean * scale), interval_text(scale, estimate),
          estimate.mean * scale, scaled(estimate.low95, scale), scaled(estimate.high95, scale)};
}

Cell change_cell(const Change& change) {
  if (!change.mean) return {"-"};
  return {change_mean_text(change), change_interval_text(change), *change.mean, change.low95,
          change.high95};
}

std::string days_text(std::size_t days) {
  return days == 1 ? "one run" : fmt::format("{} days", days);
}

std::string summary_text(const Comparison& comparison) {
  const PolicyResult& best = comparison.policies[comparison.ranking.best()];
  std::string text;
  if (comparison.policies.size() == 1) {
    text = fmt::format("`{}` has ET {} over {}.", best.policy, with_interval(1, best[&Metrics::et]),
                       days_text(comparison.days));
  } else {
    text = fmt::format("{} policies over {}. {}", comparison.policies.size(),
                       days_text(comparison.days), best_text(comparison, "`"));
  }
  if (best.et_above_bound.mean) {
    text +=
        fmt::format(" It is {} what no schedule can be below.", distance_text(best.et_above_bound));
  }
  text += fmt::format(
      " It takes {} kWh{}; {:.1f} % of its jobs are late, and the mean tardiness over all jobs is "
      "{}.",
      readable(best[&Metrics::energy_j].mean * kKwhPerJoule), comparison.days == 1 ? "" : " a day",
      best[&Metrics::late_pct].mean, human_time(best[&Metrics::avg_tardiness_s].mean));
  return text;
}

PageTable main_table(const Comparison& comparison) {
  PageTable table;
  table.name = "comparison";
  table.caption =
      comparison.days == 1
          ? "One run of each policy: there are no intervals."
          : "Means over the days with their 95 % intervals; changes are paired, day by day.";
  table.columns = {{"policy", false},
                   {"ET", true, "et"},
                   {"energy, kWh", true, "energy_kwh"},
                   {"energy, M W·min", true, "energy_mwmin"},
                   {"tardiness, min", true, "tardiness_min"},
                   {"late, %", true, "late_pct"},
                   {"ET vs first, %", true, "et_vs_first_pct"}};
  const bool trace = comparison.span_s().has_value();
  if (trace) table.columns.push_back({kLengthColumn, true, "length_h"});
  const bool bounded = !comparison.bounds.empty();
  if (bounded) {
    table.columns.push_back({"ET above bound, %", true, "et_above_bound_pct"});
    table.columns.push_back({"tardiness above bound, %", true, "tardiness_above_bound_pct"});
  }
  if (comparison.priced) table.columns.push_back({cost_head(comparison.currency), true, "cost"});
  if (comparison.carbon) table.columns.push_back({"CO2, kg", true, "co2_kg"});
  for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
    const PolicyResult& result = comparison.policies[p];
    std::vector<Cell> row = {result.policy,
                             estimate_cell(result[&Metrics::et], 1),
                             estimate_cell(result[&Metrics::energy_j], kKwhPerJoule),
                             estimate_cell(result[&Metrics::energy_wmin], 1e-6),
                             estimate_cell(result[&Metrics::avg_tardiness_s], 1. / 60),
                             estimate_cell(result[&Metrics::late_pct], 1),
                             p == 0 ? Cell("-") : change_cell(result.et_vs_first)};
    if (trace) row.emplace_back(length_text(result.length_s()), result.length_s() / 3600);
    if (bounded) {
      row.push_back(change_cell(result.et_above_bound));
      row.push_back(change_cell(result.tardiness_above_bound));
    }
    if (comparison.priced) row.push_back(estimate_cell(result[&Metrics::cost], 1));
    if (comparison.carbon) row.push_back(estimate_cell(result[&Metrics::co2_kg], 1));
    table.rows.push_back(std::move(row));
  }
  if (comparison.as_it_was) {
    const AsItWas& was = *comparison.as_it_was;
    std::vector<Cell> row(table.columns.size(), Cell("-"));
    row[0] = Cell(std::string(kAsItWas));
    row[4] = Cell(fmt::format("{:.4g}", was.avg_tardiness_s / 60), was.avg_tardiness_s / 60);
    row[5] = Cell(fmt::format("{:.4g}", was.late_pct), was.late_pct);
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable detail_table(const Comparison& comparison) {
  PageTable table;
  table.name = "details";
  table.caption = "More of each policy; tardiness by the median and the tails of a day's jobs.";
  table.columns = {{"policy", false},
                   {"energy a job, kJ", true, "energy_per_job_kj"},
                   {"median tardiness, min", true, "median_tardiness_min"},
                   {"5 % exceed, min", true, "p95_tardiness_min"},
                   {"1 % exceed, min", true, "p99_tardiness_min"},
                   {"repartitions", true},
                   {"preemptions", true}};
  for (const PolicyResult& result : comparison.policies) {
    const auto mean_count = [&](long Metrics::*of) {
      double sum = 0;
      for (const Metrics& day : result.days) sum += static_cast<double>(day.*of);
      const double mean = sum / static_cast<double>(comparison.days);
      return Cell(readable(std::round(mean)), mean);
    };
    table.rows.push_back({result.policy, estimate_cell(result[&Metrics::energy_per_job_j], 1e-3),
                          estimate_cell(result[&Metrics::median_tardiness_s], 1. / 60),
                          estimate_cell(result[&Metrics::p95_tardiness_s], 1. / 60),
                          estimate_cell(result[&Metrics::p99_tardiness_s], 1. / 60),
                          mean_count(&Metrics::repartitions), mean_count(&Metrics::preemptions)});
  }
  return table;
}

ScatterChart plane(const Comparison& comparison) {
  ScatterChart chart;
  chart.text = {"plane", "Energy against tardiness",
                "Lower left is better. The dashed stairs are the Pareto front: no policy here is "
                "better than those on it in both."};
  chart.x.label = comparison.days == 1 ? "energy, kWh" : "energy, kWh a day";
  chart.y.label = "mean tardiness, min";
  chart.front = true;
  double low = HUGE_VAL;
  double high = 0;
  for (const PolicyResult& result : comparison.policies) {
    const Estimate& energy = result[&Metrics::energy_j];
    const Estimate& late = result[&Metrics::avg_tardiness_s];
    chart.points.push_back({energy.mean * kKwhPerJoule, late.mean / 60, result.policy,
                            scaled(energy.low95, kKwhPerJoule), scaled(energy.high95, kKwhPerJoule),
                            scaled(late.low95, 1. / 60), scaled(late.high95, 1. / 60)});
    low = std::min(low, late.mean);
    high = std::max(high, late.mean);
  }
  if (!comparison.bounds.empty()) {
    const double late = mean_of(comparison.bounds, &DayBound::avg_tardiness_s);
    chart.bound = NamedPoint{mean_of(comparison.bounds, &DayBound::energy_j) * kKwhPerJoule,
                             late / 60, "certified bounds"};
    chart.text.caption +=
        " No schedule can be left of, or below, the dotted lines; each is a bound of its own.";
    low = std::min(low, late);
  }
  // Policies that drown must not squeeze the others into one point.
  chart.y.log = low > 0 && high / low > 12;
  if (chart.y.log) chart.text.caption += " Tardiness is on a logarithmic axis.";
  if (!chart.y.log) chart.y.low = 0;
  return chart;
}

std::string bound_paragraph(const Comparison& comparison) {
  if (comparison.bounds.empty())
    return "How far the policies are above what any schedule could reach: add `--bound`.";
  return fmt::format(
      "Certified bounds, below which no schedule under any policy can be: ET {}, energy {} kWh, "
      "mean "
      "tardiness {} min.",
      readable(mean_of(comparison.bounds, &DayBound::et)),
      readable(mean_of(comparison.bounds, &DayBound::energy_j) * kKwhPerJoule),
      readable(mean_of(comparison.bounds, &DayBound::avg_tardiness_s) / 60));
}

}  // namespace

std::string comparison_page(const Comparison& comparison, double energy_weight,
                            std::span<const PolicyPictures> pictures,
                            const ReportContext& context) {
  const std::size_t policies = comparison.policies.size();
  Page page(fmt::format("{} {} on {}", policies, policies == 1 ? "policy" : "policies",
                        days_text(comparison.days)),
            fmt::format("smartmig compare · {} · {}", context.workload, context.fleet));
  page.summary(summary_text(comparison));
  page.section("Comparison");
  add_notes(page, context);
  page.add(main_table(comparison));
  page.paragraph(
      fmt::format("ET = (a E + T) / (a + 1) with a = {:g}: E the energy in W·min scaled to 8 GPUs "
                  "and one day, T "
                  "the mean tardiness in minutes; lower is better. {}",
                  energy_weight, bound_paragraph(comparison)));
  if (comparison.as_it_was) {
    page.paragraph(fmt::format(
        "The row \"{}\" is no policy but what the trace says of its jobs: {}. Its energy is not "
        "known.",
        kAsItWas, as_it_was_text(*comparison.as_it_was)));
  }
  if (const auto span_s = comparison.span_s())
    page.paragraph(charged_text(*span_s, comparison.days));
  page.add(detail_table(comparison));
  add_assumptions(page, context);
  page.section("Energy and tardiness");
  page.add(plane(comparison));
  add_picture_sections(page, pictures, context);
  page.data("result", to_json(comparison));
  page.origin(context.origin);
  return std::move(page).html();
}

}  // namespace smartmig
