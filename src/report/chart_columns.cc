#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/result.h"
#include "report/chart.h"
#include "report/svg.h"

namespace smartmig {
namespace {

constexpr double kColumnsHeight = 220;

Axis named_columns(const ColumnChart& chart) {
  Axis axis;
  axis.label = chart.x_label;
  axis.low = 0;
  axis.high = static_cast<double>(chart.columns.size());
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    axis.ticks.push_back({static_cast<double>(i) + 0.5, chart.columns[i]});
  return axis;
}

}  // namespace

std::string draw(const ColumnChart& chart, double width, const std::string& id) {
  SM_CHECK(chart.columns.size() == chart.values.size());
  std::vector<double> sums = {0};
  for (const std::vector<double>& column : chart.values) {
    SM_CHECK(column.size() == chart.parts.size());
    sums.push_back(std::accumulate(column.begin(), column.end(), 0.0));
  }
  const double top = legend_height(chart.parts, width - 4) + 28;
  const Scale y(chart.y, sums, top + kColumnsHeight, top);
  const PlotArea area = plot_area(width, top, kColumnsHeight, y.ticks());
  const Scale x(named_columns(chart), {}, area.left, area.right);
  Svg svg(width, area.bottom + 42, chart.text.title, id);
  svg.legend(chart.parts, 0, 2);
  draw_axes(svg, area, x, y, chart.x_label, chart.y.label);
  for (std::size_t c = 0; c < chart.columns.size(); ++c) {
    const double left = x(static_cast<double>(c));
    const double column_width = x(static_cast<double>(c) + 1) - left;
    const double gap = std::min(2., column_width / 8);
    double sum = 0;
    for (std::size_t part = 0; part < chart.parts.size(); ++part) {
      const double value = chart.values[c][part];
      const double bottom = y(sum);
      sum += value;
      if (value <= 0) continue;
      std::string tooltip = chart.columns[c];
      if (!chart.parts[part].empty()) tooltip += ", " + chart.parts[part];
      svg.rect(left + gap / 2, y(sum), column_width - gap, bottom - y(sum), fill_class(part),
               fmt::format("{}: {}", tooltip, readable(value)));
    }
  }
  return std::move(svg).finish();
}

}  // namespace smartmig
