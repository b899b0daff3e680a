#include <fmt/format.h>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace smartmig {
namespace {

constexpr double kLinesHeight = 260;

std::vector<double> x_values(const LineChart& chart) {
  std::vector<double> values;
  for (const LineSeries& series : chart.series) {
    for (const LinePoint& point : series.points) values.push_back(point.x);
  }
  for (const NamedPoint& mark : chart.marks) values.push_back(mark.x);
  return values;
}

std::vector<double> y_values(const LineChart& chart) {
  std::vector<double> values;
  for (const LineSeries& series : chart.series) {
    for (const LinePoint& point : series.points) {
      for (const double value :
           {point.y, point.low.value_or(point.y), point.high.value_or(point.y)})
        values.push_back(value);
    }
  }
  for (const NamedPoint& mark : chart.marks) values.push_back(mark.y);
  for (const Level& level : chart.levels) values.push_back(level.y);
  return values;
}

void draw_band(Svg& svg, const LineSeries& series, const Scale& x, const Scale& y,
               std::string_view fill) {
  std::string there;
  std::string back;
  for (const LinePoint& point : series.points) {
    if (!point.low || !point.high) return;
    there += fmt::format("{}{} {}", there.empty() ? "M" : "L", coordinate(x(point.x)),
                         coordinate(y(*point.high)));
    back.insert(0, fmt::format("L{} {}", coordinate(x(point.x)), coordinate(y(*point.low))));
  }
  svg.path(there + back + "z", fmt::format("{} band", fill));
}

void draw_series(Svg& svg, const LineSeries& series, std::size_t index, const Scale& x,
                 const Scale& y) {
  if (series.points.empty()) return;
  draw_band(svg, series, x, y, fill_class(index));
  std::string d;
  for (const LinePoint& point : series.points) {
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L", coordinate(x(point.x)),
                     coordinate(y(point.y)));
  }
  svg.path(d, fmt::format("{} line{}", stroke_class(index), series.dashed ? " dashed" : ""),
           series.name);
  if (!series.dots) return;
  for (const LinePoint& point : series.points) {
    svg.circle(x(point.x), y(point.y), 3, fill_class(index),
               fmt::format("{}: {}, {}", series.name, readable(point.x), readable(point.y)));
  }
}

}  // namespace

std::string draw(const LineChart& chart, double width, const std::string& id) {
  std::vector<std::string> names;
  for (const LineSeries& series : chart.series) names.push_back(series.name);
  if (names.size() == 1 && chart.marks.empty()) names.front().clear();  // The title names it.
  const double top = legend_height(names, width - 4) + 28;
  // The height is known before the scale whose ticks say how wide the labels are.
  const Scale y(chart.y, y_values(chart), top + kLinesHeight, top);
  const PlotArea area = plot_area(width, top, kLinesHeight, y.ticks());
  const Scale x(chart.x, x_values(chart), area.left, area.right);
  Svg svg(width, area.bottom + 42, chart.text.title, id);
  svg.legend(names, 0, 2);
  draw_axes(svg, area, x, y, chart.x.label, chart.y.label);
  for (const Level& level : chart.levels) {
    svg.line(area.left, y(level.y), area.right, y(level.y), "level");
    svg.text(area.right, y(level.y) - 5, fitted(level.label, area.right - area.left), "ink halo",
             Anchor::kEnd);
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) draw_series(svg, chart.series[i], i, x, y);
  for (const NamedPoint& mark : chart.marks) {
    const bool right_half = x(mark.x) > (area.left + area.right) / 2;
    svg.circle(x(mark.x), y(mark.y), 6, "mark", mark.label);
    svg.text(x(mark.x) + (right_half ? -10 : 10), y(mark.y) - 9, mark.label, "ink strong halo",
             right_half ? Anchor::kEnd : Anchor::kStart);
  }
  return std::move(svg).finish();
}

}  // namespace smartmig
