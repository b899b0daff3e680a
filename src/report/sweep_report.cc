#include "report/sweep_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/comparison.h"
#include "report/estimate_text.h"
#include "report/table.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;
// A point and a policy.
using GridPoint = std::pair<std::size_t, std::size_t>;

std::size_t quantity_index(double Metrics::*of) {
  std::size_t q = 0;
  while (kQuantities[q].of != of) SM_CHECK(++q < kQuantities.size());
  return q;
}

// How an axis reads in a sentence.
std::string value_text(const std::string& key, const std::string& value) {
  return key == "gpus" ? fmt::format("{} GPU{}", value, value == "1" ? "" : "s")
                       : fmt::format("{} {}", key, value);
}

// "rate 20, none/edf": what is the same along a line.
std::string line_name(const Sweep& sweep, std::size_t axis, const SweepLine& line,
                      std::size_t policy) {
  const SweepPoint& point = sweep.points[line.front()];
  std::string name;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (a != axis) name += value_text(sweep.axes[a].key, point.values[a]) + ", ";
  }
  return name + point.comparison.policies[policy].policy;
}

template <class Body>
void for_each_line(const Sweep& sweep, std::size_t axis, const Body& body) {
  for (const SweepLine& line : lines_along(sweep, axis)) {
    for (std::size_t policy = 0; policy < sweep.policies(); ++policy) body(line, policy);
  }
}

std::set<GridPoint> knees(const Sweep& sweep) {
  std::set<GridPoint> found;
  const auto gpus = sweep.axis("gpus");
  if (!gpus) return found;
  for_each_line(sweep, *gpus, [&](const SweepLine& line, std::size_t policy) {
    if (const auto knee = knee_of(sweep, line, policy)) found.insert({*knee, policy});
  });
  return found;
}

// Where a target is met first along the GPUs; points where none is are not among them.
std::set<GridPoint> answers(const Sweep& sweep, const SweepTarget& target) {
  std::set<GridPoint> found;
  for_each_line(sweep, *sweep.axis("gpus"), [&](const SweepLine& line, std::size_t policy) {
    const SweepAnswer best = answer(sweep, line, policy, target);
    if (best.met) found.insert({best.point, policy});
  });
  return found;
}

std::string late_text(const SweepPoint& point, const Estimate& late) {
  std::string text = fmt::format("{:.2f}", point.late_pct(late.mean));
  if (late.low95) {
    text +=
        fmt::format(" [{:.2f}, {:.2f}]", point.late_pct(*late.low95), point.late_pct(*late.high95));
  }
  return text;
}

std::string points_text(const Sweep& sweep) {
  std::vector<Table::Column> columns;
  for (const SweepAxis& axis : sweep.axes) columns.push_back({axis.key});
  columns.push_back({"policy", Table::Align::kLeft});
  for (const char* head : {"ET", "kWh", "tardiness, min", "late, %"}) columns.push_back({head});
  const Comparison& first = sweep.points.front().comparison;
  const bool trace = first.span_s().has_value();
  if (trace) columns.push_back({kLengthColumn});
  if (first.priced) columns.push_back({cost_head(first.currency)});
  if (first.carbon) columns.push_back({"CO2, kg"});
  columns.push_back({"", Table::Align::kLeft});
  Table table(columns);
  const std::set<GridPoint> marked = knees(sweep);
  for (std::size_t p = 0; p < sweep.points.size(); ++p) {
    const SweepPoint& point = sweep.points[p];
    for (std::size_t policy = 0; policy < sweep.policies(); ++policy) {
      const PolicyResult& result = point.comparison.policies[policy];
      std::vector<std::string> row = point.values;
      row.push_back(result.policy);
      row.push_back(with_interval(1, result[&Metrics::et]));
      row.push_back(with_interval(1 / 3.6e6, result[&Metrics::energy_j]));
      row.push_back(with_interval(1. / 60, result[&Metrics::avg_tardiness_s]));
      row.push_back(late_text(point, result[&Metrics::late_pct]));
      if (trace) row.push_back(length_text(result.length_s()));
      if (first.priced) row.push_back(with_interval(1, result[&Metrics::cost]));
      if (first.carbon) row.push_back(with_interval(1, result[&Metrics::co2_kg]));
      row.push_back(marked.contains({p, policy}) ? "knee" : "");
      table.add_row(row);
    }
  }
  return table.text();
}

// "26.9 kWh a day, 3.2 EUR, 1.1 kg CO2"
std::string price_text(const SweepPoint& point, const PolicyResult& result) {
  const bool days = point.comparison.days > 1;
  std::string text = number_text(result[&Metrics::energy_j].mean / kJoulesPerKwh) +
                     (days ? " kWh a day" : " kWh in all");
  if (point.comparison.priced) {
    const std::string& currency = point.comparison.currency;
    const std::string cost = number_text(result[&Metrics::cost].mean);
    text += currency.empty() ? ", cost " + cost : fmt::format(", {} {}", cost, currency);
  }
  if (point.comparison.carbon)
    text += ", " + number_text(result[&Metrics::co2_kg].mean) + " kg CO2";
  return text;
}

std::string again_text(std::size_t missed) {
  if (missed == 0) return "";
  return fmt::format("; {} larger {} it again", missed, missed == 1 ? "size misses" : "sizes miss");
}

// A value of a quantity, as a reader says it: "4.2 % late jobs".
std::string quantity_text(std::size_t quantity, double value) {
  const auto of = kQuantities[quantity].of;
  struct Words {
    double Metrics::*of;
    double scale;
    const char* text;
  };
  static constexpr Words kWords[] = {
      {&Metrics::et, 1, "ET {:.4g}"},
      {&Metrics::energy_j, 1 / kJoulesPerKwh, "{:.4g} kWh"},
      {&Metrics::energy_wmin, 1e-6, "{:.4g} M W*min"},
      {&Metrics::avg_tardiness_s, 1. / 60, "{:.4g} min mean tardiness"},
      {&Metrics::late_pct, 1, "{:.4g} % late jobs"},
      {&Metrics::energy_per_job_j, 1e-3, "{:.4g} kJ a job"},
      {&Metrics::median_tardiness_s, 1. / 60, "{:.4g} min median tardiness"},
      {&Metrics::p95_tardiness_s, 1. / 60, "{:.4g} min tardiness at the 95th percentile"},
      {&Metrics::p99_tardiness_s, 1. / 60, "{:.4g} min tardiness at the 99th percentile"},
      {&Metrics::cost, 1, "cost {:.4g}"},
      {&Metrics::co2_kg, 1, "{:.4g} kg CO2"}};
  const auto words = std::ranges::find(kWords, of, &Words::of);
  SM_CHECK(words != std::end(kWords));
  return fmt::format(fmt::runtime(words->text), value * words->scale);
}

// Why a policy misses a target about late jobs.
std::string late_parts_text(const SweepPoint& point, std::size_t policy) {
  const LateParts parts = late_parts(point, policy);
  return fmt::format(
      " Of its late jobs, in percent of all jobs: {:.2f} fit no slice or ask for several GPUs, "
      "{:.2f} have a deadline shorter than any run, {:.2f} waited or ran on too slow a slice.",
      parts.unfit_pct, parts.short_deadline_pct, parts.waiting_pct);
}

// What one policy needs along a line, behind its name.
enum class Detail { kShort, kWhyMissed };
std::string need_text(const Sweep& sweep, const SweepLine& line, std::size_t policy,
                      const SweepTarget& target, Detail detail) {
  const std::size_t gpus = *sweep.axis("gpus");
  const SweepAnswer found = answer(sweep, line, policy, target);
  const SweepPoint& point = sweep.points[found.point];
  const std::string size = value_text("gpus", point.values[gpus]);
  const std::string mean = quantity_text(target.quantity, point.mean(policy, target.quantity));
  const std::string price = price_text(point, point.comparison.policies[policy]);
  if (found.met) {
    return fmt::format("{} for at most {}: {}, at {}{}.", size,
                       quantity_text(target.quantity, target.at_most), mean, price,
                       again_text(found.missed_after));
  }
  std::string text = fmt::format("no size tried has at most {}; the closest is {}: {}, at {}.",
                                 quantity_text(target.quantity, target.at_most), size, mean, price);
  const auto of = kQuantities[target.quantity].of;
  const bool about_lateness = of == &Metrics::avg_tardiness_s || of == &Metrics::late_pct;
  if (detail == Detail::kWhyMissed && about_lateness) text += late_parts_text(point, policy);
  return text;
}

// "rate 20: " where there is more than one line.
std::string setting_text(const Sweep& sweep, std::size_t axis, const SweepLine& line) {
  std::vector<std::string> values;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (a != axis)
      values.push_back(value_text(sweep.axes[a].key, sweep.points[line.front()].values[a]));
  }
  return values.empty() ? "" : join(values, ", ") + ": ";
}

// How often each policy has the lowest ET.
std::string best_by_et_text(const Sweep& sweep, std::string_view quote) {
  if (sweep.policies() == 1) {
    return fmt::format("{0}{1}{0} at {2} points.", quote,
                       sweep.points.front().comparison.policies.front().policy,
                       sweep.points.size());
  }
  std::vector<std::size_t> wins(sweep.policies());
  for (const SweepPoint& point : sweep.points) ++wins[point.comparison.ranking.best()];
  const auto best = static_cast<std::size_t>(std::ranges::max_element(wins) - wins.begin());
  return fmt::format("Of {} policies, {}{}{} has the lowest ET at {} of {} points.",
                     sweep.policies(), quote, sweep.points.front().comparison.policies[best].policy,
                     quote, wins[best], sweep.points.size());
}

Json late_parts_json(const LateParts& parts) {
  return {{"unfit_pct", parts.unfit_pct},
          {"short_deadline_pct", parts.short_deadline_pct},
          {"waiting_pct", parts.waiting_pct}};
}

Json value_json(const std::string& value) {
  if (const auto number = parse_number(value)) {
    if (const auto integer = parse_integer(value)) return *integer;
    return *number;
  }
  return value;
}

std::string sweep_csv(const Sweep& sweep) {
  std::string out;
  for (const SweepAxis& axis : sweep.axes) out += axis.key + ',';
  out += "policy,days,jobs,unfit_jobs,late_pct_with_unfit,length_s";
  const auto quantities = sweep.points.front().comparison.quantities();
  for (const Quantity& quantity : quantities)
    out += fmt::format(",{0}_mean,{0}_low95,{0}_high95", quantity.key);
  out += '\n';
  const auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const SweepPoint& point : sweep.points) {
    for (const PolicyResult& result : point.comparison.policies) {
      for (const std::string& value : point.values) out += fmt::format("{},", value);
      out += fmt::format("\"{}\",{},{},{},{},{}", result.policy, point.comparison.days, point.jobs,
                         point.unfit, point.late_pct(result[&Metrics::late_pct].mean),
                         result.length_s());
      for (std::size_t q = 0; q < quantities.size(); ++q) {
        const Estimate& estimate = result.estimates[q];
        out += fmt::format(",{},{},{}", estimate.mean, cell(estimate.low95), cell(estimate.high95));
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace

std::string unfit_text(const Sweep& sweep) {
  const auto most = std::ranges::max_element(sweep.points, {}, &SweepPoint::unfit);
  if (most->unfit == 0) return "";
  return fmt::format(
      "{} of {} jobs fit no slice of the fleet (they ask for several GPUs or for more memory): "
      "they "
      "do not run, and count as late here.",
      most->unfit, most->jobs + most->unfit);
}

std::vector<std::string> answer_texts(const Sweep& sweep, const SweepTarget& target) {
  std::vector<std::string> texts;
  const std::size_t gpus = *sweep.axis("gpus");
  for_each_line(sweep, gpus, [&](const SweepLine& line, std::size_t policy) {
    texts.push_back(fmt::format("{}: {}", line_name(sweep, gpus, line, policy),
                                need_text(sweep, line, policy, target, Detail::kWhyMissed)));
  });
  return texts;
}

std::vector<std::string> decision_texts(const Sweep& sweep,
                                        const std::optional<SweepTarget>& target,
                                        std::string_view quote) {
  if (!target) return {best_by_et_text(sweep, quote)};
  std::vector<std::string> texts;
  const std::size_t gpus = *sweep.axis("gpus");
  for (const SweepLine& line : lines_along(sweep, gpus)) {
    const std::vector<std::size_t> order = rank_answers(sweep, line, *target);
    const auto sentence = [&](const char* lead, std::size_t policy, Detail detail) {
      const std::string& name = sweep.points.front().comparison.policies[policy].policy;
      return fmt::format("{} {}{}{}: {}", lead, quote, name, quote,
                         need_text(sweep, line, policy, *target, detail));
    };
    std::string text =
        setting_text(sweep, gpus, line) + sentence("Best is", order[0], Detail::kWhyMissed);
    if (order.size() > 1) text += sentence(" Next is", order[1], Detail::kShort);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string to_text(const Sweep& sweep, const std::optional<SweepTarget>& target) {
  std::string text = points_text(sweep) + "\n";
  const std::size_t days = sweep.points.front().comparison.days;
  text += days > 1 ? fmt::format(
                         "Means over {} days; [low, high] is the 95 % interval of the mean, "
                         "bootstrapped over days.\n",
                         days)
                   : "One run of each policy at each point; a single run has no interval.\n";
  if (const auto gpus = sweep.axis("gpus"); gpus && sweep.axes[*gpus].values.size() > 2) {
    text +=
        "Knee: of energy against mean tardiness as GPUs are added, the size farthest from the line "
        "between the first and the last, both axes scaled to their extent.\n";
  }
  if (const auto span_s = sweep.points.front().comparison.span_s())
    text += charged_text(*span_s, days) + "\n";
  if (const std::string unfit = unfit_text(sweep); !unfit.empty()) text += unfit + "\n";
  if (target) {
    for (const std::string& sentence : answer_texts(sweep, *target)) text += sentence + "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const Sweep& sweep, const std::optional<SweepTarget>& target) {
  Json list = Json::array();
  const std::set<GridPoint> marked = knees(sweep);
  const std::set<GridPoint> chosen = target ? answers(sweep, *target) : std::set<GridPoint>();
  const std::size_t late = quantity_index(&Metrics::late_pct);
  for (std::size_t p = 0; p < sweep.points.size(); ++p) {
    const SweepPoint& point = sweep.points[p];
    Json values = Json::object();
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      values[sweep.axes[a].key] = value_json(point.values[a]);
    const Json policies = to_json(point.comparison);
    for (std::size_t policy = 0; policy < sweep.policies(); ++policy) {
      Json object = {{"point", values}};
      object.update(policies[policy]);
      object["unfit_jobs"] = point.unfit;
      object["late_pct_with_unfit"] = point.mean(policy, late);
      object["late_by"] = late_parts_json(late_parts(point, policy));
      object["knee"] = marked.contains({p, policy});
      if (target) {
        object["meets_target"] = point.mean(policy, target->quantity) <= target->at_most;
        object["answer"] = chosen.contains({p, policy});
      }
      list.push_back(std::move(object));
    }
  }
  return list;
}

std::vector<OutputFile> sweep_files(const Sweep& sweep, const std::optional<SweepTarget>& target) {
  return {{"sweep.csv", sweep_csv(sweep)}, {"sweep.json", to_json(sweep, target).dump(2) + "\n"}};
}

}  // namespace smartmig
