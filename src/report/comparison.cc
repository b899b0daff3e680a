#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "report/estimate_text.h"
#include "report/job_balance.h"
#include "report/run_summary.h"
#include "report/table.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const Change& change) {
  return {{"mean", or_null(change.mean)},
          {"low95", or_null(change.low95)},
          {"high95", or_null(change.high95)}};
}

// Where the policy stands by ET; the best says by how much.
void add_rank(Json& object, const Comparison& comparison, const PolicyResult& result) {
  const Ranking& ranking = comparison.ranking;
  if (ranking.order.empty()) return;
  const auto policy = static_cast<std::size_t>(&result - comparison.policies.data());
  object["rank"] = ranking.place(policy);
  if (policy != ranking.best() || ranking.order.size() < 2) return;
  object["vs_next"] = {{"policy", comparison.policies[ranking.order[1]].policy},
                       {"et_pct", to_json(ranking.best_vs_next)},
                       {"within_interval", is_within_interval(ranking.best_vs_next)}};
}

std::string main_text(const Comparison& comparison) {
  std::vector<Table::Column> columns = {{"policy", Table::Align::kLeft},
                                        {"ET"},
                                        {"energy, M W*min"},
                                        {"kWh"},
                                        {"tardiness, min"},
                                        {"late, %"},
                                        {"ET vs first, %"}};
  const bool trace = comparison.span_s().has_value();
  if (trace) columns.push_back({kLengthColumn});
  const bool bounded = !comparison.bounds.empty();
  if (bounded) {
    columns.push_back({"ET above bound, %"});
    columns.push_back({"tardiness, %"});
  }
  Table table(columns);
  for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
    const PolicyResult& result = comparison.policies[p];
    const double energy_j = result[&Metrics::energy_j].mean;
    std::vector<std::string> row = {result.policy,
                                    with_interval(1, result[&Metrics::et]),
                                    fmt::format("{:.4g}", result[&Metrics::energy_wmin].mean / 1e6),
                                    fmt::format("{:.4g}", energy_j / 3.6e6),
                                    with_interval(1. / 60, result[&Metrics::avg_tardiness_s]),
                                    fmt::format("{:.2f}", result[&Metrics::late_pct].mean),
                                    p == 0 ? "-" : change_text(result.et_vs_first)};
    if (trace) row.push_back(length_text(result.length_s()));
    if (bounded) {
      row.push_back(change_text(result.et_above_bound));
      row.push_back(change_text(result.tardiness_above_bound));
    }
    table.add_row(row);
  }
  if (comparison.as_it_was) {
    const AsItWas& was = *comparison.as_it_was;
    std::vector<std::string> row = {std::string(kAsItWas),
                                    "-",
                                    "-",
                                    "-",
                                    fmt::format("{:.4g}", was.avg_tardiness_s / 60),
                                    fmt::format("{:.2f}", was.late_pct)};
    row.resize(columns.size(), "-");
    table.add_row(row);
  }
  return table.text();
}

std::string detail_text(const Comparison& comparison) {
  std::vector<Table::Column> columns = {{"policy", Table::Align::kLeft},
                                        {"energy a job, kJ"},
                                        {"tardiness, min: median"},
                                        {"95 %"},
                                        {"99 %"},
                                        {"repartitions"},
                                        {"preemptions"}};
  if (comparison.priced) columns.push_back({cost_head(comparison.currency)});
  if (comparison.carbon) columns.push_back({"CO2, kg"});
  Table table(columns);
  const auto minutes = [](const Estimate& estimate) {
    return fmt::format("{:.4g}", estimate.mean / 60);
  };
  for (const PolicyResult& result : comparison.policies) {
    double repartitions = 0;
    double preemptions = 0;
    for (const Metrics& day : result.days) {
      repartitions += static_cast<double>(day.repartitions);
      preemptions += static_cast<double>(day.preemptions);
    }
    const auto days = static_cast<double>(comparison.days);
    std::vector<std::string> row = {
        result.policy,
        fmt::format("{:.4g}", result[&Metrics::energy_per_job_j].mean / 1e3),
        minutes(result[&Metrics::median_tardiness_s]),
        minutes(result[&Metrics::p95_tardiness_s]),
        minutes(result[&Metrics::p99_tardiness_s]),
        fmt::format("{:.0f}", repartitions / days),
        fmt::format("{:.0f}", preemptions / days)};
    if (comparison.priced) row.push_back(with_interval(1, result[&Metrics::cost]));
    if (comparison.carbon) row.push_back(with_interval(1, result[&Metrics::co2_kg]));
    table.add_row(row);
  }
  return table.text();
}

auto days_solved(const std::vector<DayBound>& bounds) {
  return std::count_if(bounds.begin(), bounds.end(),
                       [](const DayBound& bound) { return bound.program_solved; });
}

// How many times the published bounds' ET the certified one is, by day.
struct OverLinearised {
  double mean = 0;
  double low = HUGE_VAL;
  double high = 0;
};
OverLinearised over_linearised(const std::vector<DayBound>& bounds) {
  OverLinearised over;
  for (const DayBound& bound : bounds) {
    const double times = bound.linearised_et > 0 ? bound.et / bound.linearised_et : 0;
    over.mean += times / static_cast<double>(bounds.size());
    over.low = std::min(over.low, times);
    over.high = std::max(over.high, times);
  }
  return over;
}

std::string bound_text(const Comparison& comparison) {
  const std::vector<DayBound>& bounds = comparison.bounds;
  const OverLinearised over = over_linearised(bounds);
  const auto energy = [&](double DayBound::*of) {
    return mean_of(bounds, of) / kJoulesPerWattMinute / 1e6;
  };
  std::string text = fmt::format(
      "Certified bound, below which no schedule can be: ET {:.4g}, energy {:.4g} M W*min, "
      "tardiness "
      "{:.4g} min. The published energy bound is {:.4g} M W*min; the certified ET is {:.3f} times "
      "the published bounds' ({:.3f} to {:.3f} by day).\n",
      mean_of(bounds, &DayBound::et), energy(&DayBound::energy_j),
      mean_of(bounds, &DayBound::avg_tardiness_s) / 60, energy(&DayBound::linearised_energy_j),
      over.mean, over.low, over.high);
  if (comparison.policies.front().tardiness_above_program.mean) {
    text += fmt::format(
        "The published tardiness program, solved on {} of the days, is proven to be at least "
        "{:.4g} "
        "min.",
        days_solved(bounds), mean_of(bounds, &DayBound::linearised_tardiness_s) / 60);
    for (const PolicyResult& result : comparison.policies)
      text += fmt::format(" {} is {} % above it.", result.policy,
                          change_text(result.tardiness_above_program));
    text += '\n';
  }
  return text;
}

// The published energy bound, where it was asked for alone.
std::string energy_bound_text(const Comparison& comparison) {
  double mean_j = 0;
  for (const double bound_j : comparison.energy_bounds_j)
    mean_j += bound_j / static_cast<double>(comparison.days);
  std::string text = fmt::format("Published energy bound: {:.4g} M W*min. Above it, %:",
                                 mean_j / kJoulesPerWattMinute / 1e6);
  for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
    const PolicyResult& result = comparison.policies[p];
    text += fmt::format("{} {} {}", p == 0 ? "" : ";", result.policy,
                        change_text(result.energy_above_published));
  }
  return text + ".\n";
}

std::map<std::string, double> mean_layouts_pct(const PolicyResult& result) {
  std::map<std::string, double> mean;
  for (const Metrics& day : result.days) {
    for (const auto& [layout, share] : day.layouts_pct)
      mean[layout] += share / static_cast<double>(result.days.size());
  }
  return mean;
}

// Most frequent first.
std::string layouts_text(const Comparison& comparison) {
  std::string text;
  for (const PolicyResult& result : comparison.policies) {
    const auto mean = mean_layouts_pct(result);
    if (mean.empty()) continue;
    std::vector<std::pair<std::string, double>> sorted(mean.begin(), mean.end());
    std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::string, double>::second);
    text += fmt::format("{}, % of the time in each layout:", result.policy);
    for (std::size_t i = 0; i < sorted.size(); ++i)
      text += fmt::format("{} {} {:.1f}", i == 0 ? "" : ",", sorted[i].first, sorted[i].second);
    text += ".\n";
  }
  return text;
}

double percent(long part, long whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// How often a policy that decides now and then changed anything.
std::string turns_text(const Comparison& comparison) {
  std::string text;
  for (const PolicyResult& result : comparison.policies) {
    const TurnCounts turns = result.turns();
    if (turns.decisions == 0) continue;
    text += fmt::format(
        "{}: {:.0f} decisions a day, {:.1f} % of them change a GPU; a GPU changes in {:.2f} %.\n",
        result.policy, static_cast<double>(turns.decisions) / static_cast<double>(comparison.days),
        percent(turns.decisions_with_change, turns.decisions),
        percent(turns.gpus_changed, turns.gpus_asked));
  }
  return text;
}

// A policy has commas: always quoted, never a quote inside.
std::string csv_policy(const std::string& policy) { return fmt::format("\"{}\"", policy); }

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string compare_csv(const Comparison& comparison) {
  std::string out = "policy,days";
  for (const Quantity& quantity : comparison.quantities()) {
    for (const char* part : {"mean", "median", "low95", "high95"})
      out += fmt::format(",{}_{}", quantity.key, part);
  }
  const bool bounded = !comparison.bounds.empty();
  for (const char* change : {"et_vs_first", "et_above_bound", "tardiness_above_bound"}) {
    out += fmt::format(",{0}_pct_mean,{0}_pct_low95,{0}_pct_high95", change);
    if (!bounded) break;
  }
  out += '\n';
  for (const PolicyResult& result : comparison.policies) {
    out += fmt::format("{},{}", csv_policy(result.policy), comparison.days);
    for (std::size_t q = 0; q < comparison.quantities().size(); ++q) {
      const Estimate& estimate = result.estimates[q];
      out += fmt::format(",{},{},{},{}", estimate.mean, estimate.median, csv_number(estimate.low95),
                         csv_number(estimate.high95));
    }
    for (const Change* change :
         {&result.et_vs_first, &result.et_above_bound, &result.tardiness_above_bound}) {
      out += fmt::format(",{},{},{}", csv_number(change->mean), csv_number(change->low95),
                         csv_number(change->high95));
      if (!bounded) break;
    }
    out += '\n';
  }
  return out;
}

std::string days_csv(const Comparison& comparison) {
  std::string out = "day,policy,jobs";
  for (const Quantity& quantity : comparison.quantities()) out += fmt::format(",{}", quantity.key);
  const bool bounded = !comparison.bounds.empty();
  out += ",makespan_s,events,repartitions,preemptions";
  out += bounded ? ",bound_et,bound_energy_j,bound_avg_tardiness_s,linearised_energy_j,linearised_"
                   "tardiness_s\n"
                 : "\n";
  for (std::size_t day = 0; day < comparison.days; ++day) {
    for (const PolicyResult& result : comparison.policies) {
      const Metrics& m = result.days[day];
      out += fmt::format("{},{},{}", day, csv_policy(result.policy), m.jobs);
      for (const Quantity& quantity : comparison.quantities())
        out += fmt::format(",{}", m.*quantity.of);
      out += fmt::format(",{},{},{},{}", m.makespan_s, m.events, m.repartitions, m.preemptions);
      if (bounded) {
        const DayBound& bound = comparison.bounds[day];
        out += fmt::format(",{},{},{},{},{}", bound.et, bound.energy_j, bound.avg_tardiness_s,
                           bound.linearised_energy_j, bound.linearised_tardiness_s);
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace

std::string to_text(const Comparison& comparison, double energy_weight) {
  std::string text = main_text(comparison) + '\n' + detail_text(comparison) + '\n';
  if (comparison.days > 1) {
    text += fmt::format(
        "Means over {} days, the same jobs for every policy; [low, high] is the 95 % interval of "
        "the "
        "mean, bootstrapped over days.\n",
        comparison.days);
  } else {
    text += "One run of each policy on the same jobs; a single run has no interval.\n";
  }
  text += fmt::format(
      "ET = (a*E + T)/(a + 1), lower is better: a = {:g}, E energy in W*min scaled to 8 GPUs and "
      "one "
      "day, T mean tardiness in minutes. Energy in the table is that of the fleet as it is.\n",
      energy_weight);
  if (comparison.as_it_was) {
    text +=
        fmt::format("\"{}\" is no policy but what the trace says: {}. Its energy is not known.\n",
                    kAsItWas, as_it_was_text(*comparison.as_it_was));
  }
  if (const auto span_s = comparison.span_s())
    text += charged_text(*span_s, comparison.days) + '\n';
  text += turns_text(comparison);
  text += layouts_text(comparison);
  if (!comparison.energy_bounds_j.empty()) text += energy_bound_text(comparison);
  if (!comparison.bounds.empty()) text += bound_text(comparison);
  return text;
}

std::string best_text(const Comparison& comparison, std::string_view quote) {
  const Ranking& ranking = comparison.ranking;
  if (ranking.order.size() < 2) return "";
  const PolicyResult& best = comparison.policies[ranking.order[0]];
  const PolicyResult& next = comparison.policies[ranking.order[1]];
  const PolicyResult& first = comparison.policies.front();
  const auto named = [&](const PolicyResult& result) {
    return fmt::format("{0}{1}{0}", quote, result.policy);
  };
  const auto margin = [](const Change& change) {
    return change.mean ? distance_text(change) : std::string("not comparable with");
  };
  std::string text =
      fmt::format("Best is {}{} with ET {}: {} the next{}, {}", named(best),
                  &best == &first ? " (the first)" : "", with_interval(1, best[&Metrics::et]),
                  margin(ranking.best_vs_next), &next == &first ? " and first" : "", named(next));
  if (&best != &first && &next != &first)
    text += fmt::format(", and {} the first, {}", margin(best.et_vs_first), named(first));
  if (comparison.days == 1) return text + "; a single run does not say how much of it is chance.";
  if (is_within_interval(ranking.best_vs_next))
    return text +
           "; the interval of the margin includes 0, so these days do not tell the two apart.";
  return text + ".";
}

std::string late_text(const Comparison& comparison) {
  std::string text = "Late jobs against the first, %:";
  for (std::size_t p = 1; p < comparison.policies.size(); ++p) {
    text += fmt::format("{} {} {}", p == 1 ? "" : ";", comparison.policies[p].policy,
                        change_text(comparison.policies[p].late_vs_first));
  }
  return text + ".\n";
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  Json list = Json::array();
  for (const PolicyResult& result : comparison.policies) {
    Json object = {{"policy", result.policy}, {"days", comparison.days}};
    if (comparison.balance) add_balance(object, *comparison.balance);
    if (comparison.as_it_was) object["as_it_was"] = to_json(*comparison.as_it_was);
    if (!comparison.currency.empty()) object["currency"] = comparison.currency;
    for (std::size_t q = 0; q < comparison.quantities().size(); ++q) {
      const Estimate& estimate = result.estimates[q];
      object[std::string(kQuantities[q].key)] = {{"mean", estimate.mean},
                                                 {"median", estimate.median},
                                                 {"low95", or_null(estimate.low95)},
                                                 {"high95", or_null(estimate.high95)}};
    }
    if (const auto span_s = comparison.span_s()) {
      object["span_s"] = *span_s;
      object["length_s"] = result.length_s();
    }
    if (!comparison.speeds.empty()) object["speeds"] = comparison.speeds;
    if (!comparison.assumptions.empty()) object["assumptions"] = to_json(comparison.assumptions);
    object["vs_first"]["et_pct"] = to_json(result.et_vs_first);
    object["vs_first"]["late_pct"] = to_json(result.late_vs_first);
    add_rank(object, comparison, result);
    if (const TurnCounts turns = result.turns(); turns.decisions > 0) {
      object["decisions"] = {
          {"count", static_cast<double>(turns.decisions) / static_cast<double>(comparison.days)},
          {"changed_pct", percent(turns.decisions_with_change, turns.decisions)},
          {"gpus_changed_pct", percent(turns.gpus_changed, turns.gpus_asked)}};
    }
    if (const auto layouts = mean_layouts_pct(result); !layouts.empty())
      object["layouts_pct"] = layouts;
    if (!comparison.energy_bounds_j.empty())
      object["energy_above_published_pct"] = to_json(result.energy_above_published);
    if (!comparison.bounds.empty()) {
      const std::vector<DayBound>& bounds = comparison.bounds;
      const OverLinearised over = over_linearised(bounds);
      object["bound"] = {
          {"et", mean_of(bounds, &DayBound::et)},
          {"energy_j", mean_of(bounds, &DayBound::energy_j)},
          {"avg_tardiness_s", mean_of(bounds, &DayBound::avg_tardiness_s)},
          {"linearised_energy_j", mean_of(bounds, &DayBound::linearised_energy_j)},
          {"linearised_tardiness_s", mean_of(bounds, &DayBound::linearised_tardiness_s)},
          {"tardiness_solved_days", days_solved(bounds)},
          {"et_over_linearised", {{"mean", over.mean}, {"low", over.low}, {"high", over.high}}},
          {"et_above_pct", to_json(result.et_above_bound)},
          {"tardiness_above_pct", to_json(result.tardiness_above_bound)},
          {"tardiness_above_linearised_pct", to_json(result.tardiness_above_program)}};
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::vector<OutputFile> comparison_files(const Comparison& comparison) {
  return {{"compare.csv", compare_csv(comparison)},
          {"compare.json", to_json(comparison).dump(2) + "\n"},
          {"days.csv", days_csv(comparison)}};
}

}  // namespace smartmig
