#include "report/sweep_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"
#include "report/estimate_text.h"
#include "report/report_sections.h"
#include "report/sweep_report.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

constexpr std::size_t kMostLines = 12;  // Sets of pictures; a larger grid is for its table.
constexpr std::size_t kMostTicks = 16;

// The axis that pictures have along x: the GPUs, or the first whose values are numbers.
std::optional<std::size_t> picture_axis(const Sweep& sweep) {
  if (const auto gpus = sweep.axis("gpus")) return gpus;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (std::ranges::all_of(sweep.axes[a].values, [](const std::string& value) {
          return parse_number(value).has_value();
        }))
      return a;
  }
  return std::nullopt;
}

// One of the pictures' quantities at a point.
struct Shown {
  const char* name;
  const char* title;
  const char* label;
  double Metrics::*of;
  double scale;
};
constexpr Shown kEnergy = {"energy", "Energy", "energy, kWh", &Metrics::energy_j,
                           1 / kJoulesPerKwh};
constexpr Shown kTardiness = {"tardiness", "Mean tardiness", "tardiness, min",
                              &Metrics::avg_tardiness_s, 1. / 60};
constexpr Shown kLate = {"late", "Late jobs", "late, %", &Metrics::late_pct, 1};

LinePoint value_at(const Sweep& sweep, std::size_t index, std::size_t policy, double x,
                   const Shown& shown) {
  const SweepPoint& point = sweep.points[index];
  const Estimate& estimate = point.comparison.policies[policy][shown.of];
  const auto scaled = [&](double value) {
    return shown.of == &Metrics::late_pct ? point.late_pct(value) : value * shown.scale;
  };
  LinePoint made{x, scaled(estimate.mean)};
  if (estimate.low95) {
    made.low = scaled(*estimate.low95);
    made.high = scaled(*estimate.high95);
  }
  return made;
}

// The values themselves, where they are few: there is no half a GPU.
std::vector<Tick> ticks_of(const SweepAxis& axis) {
  std::vector<Tick> ticks;
  if (axis.values.size() > kMostTicks) return ticks;
  for (const std::string& value : axis.values) ticks.push_back({*parse_number(value), value});
  std::ranges::sort(ticks, {}, &Tick::value);
  return ticks;
}

// A quantity along the axis, a line for each policy.
LineChart along_axis(const Sweep& sweep, std::size_t axis, const SweepLine& line,
                     const Shown& shown, const std::string& setting, std::size_t number) {
  LineChart chart{{fmt::format("{}-{}", shown.name, number),
                   fmt::format("{} by {}{}", shown.title, sweep.axes[axis].key, setting)},
                  {sweep.axes[axis].key},
                  {shown.label},
                  {}};
  chart.x.ticks = ticks_of(sweep.axes[axis]);
  chart.y.low = 0;
  for (std::size_t policy = 0; policy < sweep.policies(); ++policy) {
    LineSeries series{sweep.points[line.front()].comparison.policies[policy].policy, {}, true};
    for (const std::size_t point : line) {
      const double x = *parse_number(sweep.points[point].values[axis]);
      series.points.push_back(value_at(sweep, point, policy, x, shown));
    }
    std::ranges::stable_sort(series.points, {}, &LinePoint::x);
    if (const auto knee = knee_of(sweep, line, policy)) {
      const double x = *parse_number(sweep.points[*knee].values[axis]);
      chart.marks.push_back({x, value_at(sweep, *knee, policy, x, shown).y, "knee"});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// Energy against tardiness along the axis, which is where the knee is found.
LineChart plane(const Sweep& sweep, std::size_t axis, const SweepLine& line,
                const std::string& setting, std::size_t number) {
  LineChart chart{{fmt::format("plane-{}", number),
                   fmt::format("Energy and tardiness as {} grows{}", sweep.axes[axis].key, setting),
                   "The knee is the point farthest from the line between the ends, both axes "
                   "scaled to their extent."},
                  {kEnergy.label},
                  {kTardiness.label},
                  {}};
  for (std::size_t policy = 0; policy < sweep.policies(); ++policy) {
    LineSeries series{sweep.points[line.front()].comparison.policies[policy].policy, {}, true};
    const auto at = [&](std::size_t point) {
      const double energy = value_at(sweep, point, policy, 0, kEnergy).y;
      return LinePoint{energy, value_at(sweep, point, policy, 0, kTardiness).y};
    };
    for (const std::size_t point : line) series.points.push_back(at(point));
    std::ranges::stable_sort(series.points, {}, &LinePoint::x);
    if (const auto knee = knee_of(sweep, line, policy)) {
      chart.marks.push_back(
          {at(*knee).x, at(*knee).y,
           fmt::format("{} {}", sweep.axes[axis].key, sweep.points[*knee].values[axis])});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// ", rate 20": what is the same along a line.
std::string setting_of(const Sweep& sweep, std::size_t axis, const SweepLine& line) {
  std::string text;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (a != axis)
      text += fmt::format(", {} {}", sweep.axes[a].key, sweep.points[line.front()].values[a]);
  }
  return text;
}

void add_pictures(Page& page, const Sweep& sweep, const std::optional<SweepTarget>& target) {
  const auto axis = picture_axis(sweep);
  if (!axis || sweep.axes[*axis].values.size() < 2) return;
  const std::vector<SweepLine> lines = lines_along(sweep, *axis);
  if (lines.size() > kMostLines) return;
  page.section("Curves");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string setting = setting_of(sweep, *axis, lines[i]);
    page.add(along_axis(sweep, *axis, lines[i], kEnergy, setting, i));
    LineChart late = along_axis(sweep, *axis, lines[i], kLate, setting, i);
    if (target && kQuantities[target->quantity].of == &Metrics::late_pct)
      late.levels.push_back({target->at_most, "target"});
    page.add(late);
    page.add(along_axis(sweep, *axis, lines[i], kTardiness, setting, i));
    page.add(plane(sweep, *axis, lines[i], setting, i));
  }
}

PageTable points_table(const Sweep& sweep) {
  PageTable table{"sweep", "A row for each point and policy; means over days.", {}, {}};
  table.columns.push_back({"policy", false});
  for (const SweepAxis& axis : sweep.axes) table.columns.push_back({axis.key});
  table.columns.push_back({"ET", true, "et"});
  table.columns.push_back({"energy, kWh", true, "energy_kwh"});
  table.columns.push_back({"tardiness, min", true, "avg_tardiness_min"});
  table.columns.push_back({"late, %", true, "late_pct_with_unfit"});
  const Comparison& first = sweep.points.front().comparison;
  const bool trace = first.span_s().has_value();
  if (trace) table.columns.push_back({kLengthColumn, true, "length_h"});
  if (first.priced) table.columns.push_back({cost_head(first.currency), true, "cost"});
  if (first.carbon) table.columns.push_back({"CO2, kg", true, "co2_kg"});
  for (const SweepPoint& point : sweep.points) {
    for (const PolicyResult& result : point.comparison.policies) {
      const auto cell = [&](const Estimate& estimate, double scale) {
        const auto scaled = [&](const std::optional<double>& value) {
          return value ? std::optional(*value * scale) : std::nullopt;
        };
        return PageTable::Cell(fmt::format("{:.4g}", estimate.mean * scale),
                               interval_text(scale, estimate), estimate.mean * scale,
                               scaled(estimate.low95), scaled(estimate.high95));
      };
      std::vector<PageTable::Cell> row = {PageTable::Cell(result.policy)};
      for (const std::string& value : point.values) {
        const auto number = parse_number(value);
        row.push_back(number ? PageTable::Cell(value, *number) : PageTable::Cell(value));
      }
      row.push_back(cell(result[&Metrics::et], 1));
      row.push_back(cell(result[&Metrics::energy_j], 1 / kJoulesPerKwh));
      row.push_back(cell(result[&Metrics::avg_tardiness_s], 1. / 60));
      const double late = point.late_pct(result[&Metrics::late_pct].mean);
      row.emplace_back(fmt::format("{:.2f}", late), late);
      if (trace) row.emplace_back(length_text(result.length_s()), result.length_s() / 3600);
      if (first.priced) row.push_back(cell(result[&Metrics::cost], 1));
      if (first.carbon) row.push_back(cell(result[&Metrics::co2_kg], 1));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

std::string sweep_page(const Sweep& sweep, const std::optional<SweepTarget>& target,
                       const ReportContext& context) {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : sweep.axes) keys.push_back(axis.key);
  Page page("Policies over " + join(keys, " and "),
            fmt::format("smartmig compare --sweep · {} · {} at the first point", context.workload,
                        context.fleet));
  const std::vector<std::string> decisions = decision_texts(sweep, target, "`");
  page.summary(decisions.front());
  if (target) {
    page.section("Decision");
    for (std::size_t i = 1; i < decisions.size(); ++i) page.paragraph(decisions[i]);
    page.paragraph("Every policy:");
    for (const std::string& sentence : answer_texts(sweep, *target)) page.paragraph(sentence);
  }
  add_assumptions(page, context);
  add_pictures(page, sweep, target);
  page.section("Every point");
  add_notes(page, context);
  if (const std::string unfit = unfit_text(sweep); !unfit.empty()) page.paragraph(unfit);
  const Comparison& first = sweep.points.front().comparison;
  if (const auto span_s = first.span_s()) page.paragraph(charged_text(*span_s, first.days));
  page.add(points_table(sweep));
  page.data("result", to_json(sweep, target));
  page.origin(context.origin);
  return std::move(page).html();
}

}  // namespace smartmig
