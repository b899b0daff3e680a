#include "report/run_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv.h"
#include "base/units.h"

namespace smartmig {
namespace {

constexpr double kMaxCurve = 1e15;
// What a stack can show apart; the rest is "others".
constexpr std::size_t kMostLayouts = 7;
constexpr std::size_t kMostGpuColumns = 48;

double share_later_than(const RunShapes& shapes, std::size_t bin) {
  std::uint64_t later = 0;
  for (std::size_t b = bin + 1; b < shapes.late_jobs.size(); ++b) later += shapes.late_jobs[b];
  return 100 * static_cast<double>(later) /
         static_cast<double>(std::max<std::size_t>(1, shapes.jobs));
}

double all_time(const std::array<TimeUs, 24>& hours) {
  double sum = 0;
  for (const TimeUs us : hours) sum += static_cast<double>(us);
  return sum;
}

// The layouts that stood longest, over all policies, each of which counts the same.
std::vector<std::string> common_layouts(std::span<const PolicyShapes> policies) {
  std::map<std::string, double> share;
  for (const PolicyShapes& policy : policies) {
    double whole = 0;
    for (const auto& [name, hours] : policy.shapes.layout_us) whole += all_time(hours);
    for (const auto& [name, hours] : policy.shapes.layout_us)
      share[name] += all_time(hours) / std::max(1., whole);
  }
  std::vector<std::pair<std::string, double>> sorted(share.begin(), share.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  // One more colour than kMostLayouts is there: "others" of a single layout is that layout.
  if (sorted.size() > kMostLayouts + 1) sorted.resize(kMostLayouts);
  std::vector<std::string> names;
  for (const auto& [name, of] : sorted) names.push_back(name);
  return names;
}

ColumnChart layout_chart(const PolicyShapes& policy, const std::vector<std::string>& layouts,
                         std::size_t index) {
  ColumnChart chart;
  chart.text = {fmt::format("layouts-{}", index), policy.policy};
  chart.x_label = "hour of day";
  chart.y.label = "share, %";
  chart.y.low = 0;
  chart.y.high = 100;
  chart.parts = layouts;
  chart.parts.emplace_back("others");
  double others = 0;
  for (std::size_t hour = 0; hour < 24; ++hour) {
    double whole = 0;
    for (const auto& [name, hours] : policy.shapes.layout_us)
      whole += static_cast<double>(hours[hour]);
    std::vector<double> values;
    double left = whole > 0 ? 100 : 0;
    for (const std::string& layout : layouts) {
      const auto found = policy.shapes.layout_us.find(layout);
      const double us =
          found == policy.shapes.layout_us.end() ? 0 : static_cast<double>(found->second[hour]);
      values.push_back(whole > 0 ? 100 * us / whole : 0);
      left -= values.back();
    }
    values.push_back(left > 1e-9 ? left : 0);
    others += values.back();
    chart.columns.push_back(fmt::format("{}", hour));
    chart.values.push_back(std::move(values));
  }
  if (others == 0) {
    chart.parts.pop_back();
    for (auto& values : chart.values) values.pop_back();
  }
  // A colour stays with its layout, but one that this policy never has needs no name.
  for (std::size_t part = 0; part < chart.parts.size(); ++part) {
    const bool seen = std::any_of(chart.values.begin(), chart.values.end(),
                                  [&](const auto& values) { return values[part] > 0; });
    if (!seen) chart.parts[part].clear();
  }
  return chart;
}

Result<LineSeries> read_series(std::string_view csv, const std::string& name, std::string_view x,
                               std::string_view y, std::string shown) {
  auto reader = CsvReader::open(csv, name);
  if (!reader) return pass_on(reader);
  const auto x_column = reader->require(x);
  if (!x_column) return pass_on(x_column);
  const auto y_column = reader->require(y);
  if (!y_column) return pass_on(y_column);
  LineSeries series;
  series.name = std::move(shown);
  while (reader->next()) {
    if (reader->field(*y_column).empty()) continue;  // No episode ended.
    const auto at = reader->number(*x_column, 0, kMaxCurve);
    if (!at) return pass_on(at);
    const auto value = reader->number(*y_column, -kMaxCurve, kMaxCurve);
    if (!value) return pass_on(value);
    series.points.push_back({*at, *value});
  }
  if (reader->error()) return tl::unexpected<Error>(*reader->error());
  if (series.points.empty()) return fail("{}: {} has no value, expected a learning curve", name, y);
  return series;
}

}  // namespace

LineChart tardiness_chart(std::span<const PolicyShapes> policies) {
  LineChart chart;
  chart.text = {"tardiness", "How late jobs were",
                "The share of all jobs that finished later than their deadline by more than the "
                "time below. A curve that is lower everywhere is better for everyone."};
  chart.x.label = "later than the deadline by more than";
  chart.x.log = true;
  chart.x.low = 1;
  chart.y.label = "share of jobs, %";
  chart.y.low = 0;
  std::size_t last = 1;
  for (const PolicyShapes& policy : policies) {
    for (std::size_t bin = 0; bin < RunShapes::kLateBins; ++bin)
      if (policy.shapes.late_jobs[bin] > 0) last = std::max(last, bin);
  }
  last = std::max<std::size_t>(last, 21);  // To ten seconds at least.
  for (const PolicyShapes& policy : policies) {
    LineSeries series;
    series.name = policy.policy;
    for (std::size_t bin = 11; bin <= std::min(last, RunShapes::kLateBins - 2); ++bin)
      series.points.push_back({RunShapes::late_limit_s(bin), share_later_than(policy.shapes, bin)});
    chart.series.push_back(std::move(series));
  }
  for (const auto& [seconds, label] : {std::pair{1., "1 s"},
                                       {10., "10 s"},
                                       {60., "1 min"},
                                       {600., "10 min"},
                                       {3600., "1 h"},
                                       {36000., "10 h"},
                                       {864000., "10 d"},
                                       {8640000., "100 d"}})
    chart.x.ticks.push_back({seconds, label});
  return chart;
}

BarChart energy_by_kind_chart(std::span<const PolicyShapes> policies) {
  BarChart chart;
  chart.text = {"energy-by-kind", "Energy by kind of job",
                "A job has its share, by busy compute slices, of what its board drew above idle; "
                "the rest is what boards draw with nothing to do."};
  const bool several = std::any_of(policies.begin(), policies.end(),
                                   [](const PolicyShapes& policy) { return policy.days > 1; });
  chart.x.label = several ? "kWh a day" : "kWh";
  chart.x.low = 0;
  chart.parts = {"inference", "training", "idle boards"};
  chart.colours = {0, 1, 7};
  for (const PolicyShapes& policy : policies) {
    const double scale = 1 / (kJoulesPerKwh * static_cast<double>(policy.days));
    chart.bars.push_back({policy.policy,
                          {policy.shapes.inference_j * scale, policy.shapes.training_j * scale,
                           policy.shapes.idle_j * scale}});
  }
  return chart;
}

void add_energy_by_gpu(Page& page, std::span<const PolicyShapes> policies) {
  const auto kwh = [](const PolicyShapes& policy, std::size_t gpu) {
    return policy.shapes.gpu_energy_j[gpu] / (kJoulesPerKwh * static_cast<double>(policy.days));
  };
  const std::string unit = policies.front().days > 1 ? "kWh a day" : "kWh";
  const ChartText text = {"energy-by-gpu", "Energy by GPU", "What each board drew, idle or not."};
  const std::size_t gpus = policies.front().shapes.gpu_energy_j.size();
  if (policies.size() == 1 && gpus <= kMostGpuColumns) {
    ColumnChart chart{text, "GPU", {unit}, {""}, {}, {}};
    chart.y.low = 0;
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      chart.columns.push_back(fmt::format("{}", gpu));
      chart.values.push_back({kwh(policies.front(), gpu)});
    }
    page.add(chart);
    return;
  }
  LineChart chart{text, {"GPU"}, {unit}, {}};
  chart.y.low = 0;
  for (const PolicyShapes& policy : policies) {
    LineSeries series{policy.policy, {}};
    series.dots = gpus <= kMostGpuColumns;
    for (std::size_t gpu = 0; gpu < gpus; ++gpu)
      series.points.push_back({static_cast<double>(gpu), kwh(policy, gpu)});
    chart.series.push_back(std::move(series));
  }
  if (gpus <= kMostGpuColumns) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu)
      chart.x.ticks.push_back({static_cast<double>(gpu), fmt::format("{}", gpu)});
  }
  page.add(chart);
}

std::vector<ColumnChart> layout_charts(std::span<const PolicyShapes> policies) {
  const std::vector<std::string> layouts = common_layouts(policies);
  std::vector<ColumnChart> charts;
  for (std::size_t p = 0; p < policies.size(); ++p)
    charts.push_back(layout_chart(policies[p], layouts, p));
  return charts;
}

Result<LineChart> learning_curve_chart(std::string_view csv, const std::string& name) {
  const auto reader = CsvReader::open(csv, name);
  if (!reader) return pass_on(reader);
  LineChart chart;
  chart.text = {"learning-curve", "Learning curve", fmt::format("From {}.", name)};
  const bool evolved = reader->find("generation").has_value();
  if (!evolved && !reader->find("mean_et"))
    return fail(
        "{}: found neither a column generation nor mean_et, expected a file of train --curve",
        name);
  if (evolved) {
    chart.x.label = "generation";
    chart.y.label = "score, mean of ln(ET)";
    for (const auto& [column, shown] : {std::pair{"median", "median"}, {"best", "best"}}) {
      auto series = read_series(csv, name, "generation", column, shown);
      if (!series) return pass_on(series);
      chart.series.push_back(std::move(*series));
    }
    return chart;
  }
  chart.x.label = "decisions";
  chart.y.label = "mean ET of training days, options drawn";
  auto series = read_series(csv, name, "steps", "mean_et", "mean ET");
  if (!series) return pass_on(series);
  chart.series.push_back(std::move(*series));
  return chart;
}

}  // namespace smartmig
