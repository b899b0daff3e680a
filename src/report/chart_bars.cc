#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/result.h"
#include "report/chart.h"
#include "report/svg.h"

namespace smartmig {
namespace {

constexpr double kBarHeight = 16;
constexpr double kBarPitch = 42;  // The label stands above its bar.

double sum_of(const Bar& bar) { return std::accumulate(bar.values.begin(), bar.values.end(), 0.0); }

std::string note_of(const Bar& bar) { return bar.note.empty() ? readable(sum_of(bar)) : bar.note; }

void draw_bar(Svg& svg, const BarChart& chart, const Bar& bar, double top, const Scale& x) {
  SM_CHECK(bar.values.size() == chart.parts.size());
  svg.text(0, top + 11, fitted(bar.label, svg.width()), "ink");
  const double y = top + 17;
  double sum = 0;
  for (std::size_t part = 0; part < bar.values.size(); ++part) {
    const double from = x(sum);
    sum += bar.values[part];
    std::string tooltip = bar.label;
    if (!chart.parts[part].empty()) tooltip += ", " + chart.parts[part];
    svg.rect(from, y, std::max(0.5, x(sum) - from), kBarHeight,
             fill_class(chart.colours.empty() ? part : chart.colours[part]),
             fmt::format("{}: {}", tooltip, readable(bar.values[part])));
  }
  double end = x(sum);
  if (bar.low && bar.high) {
    const double middle = y + kBarHeight / 2;
    svg.line(x(*bar.low), middle, x(*bar.high), middle, "whisker");
    svg.line(x(*bar.low), middle - 4, x(*bar.low), middle + 4, "whisker");
    svg.line(x(*bar.high), middle - 4, x(*bar.high), middle + 4, "whisker");
    end = std::max(end, x(*bar.high));
  }
  svg.text(end + 6, y + 12, note_of(bar), "soft");
}

}  // namespace

std::string draw(const BarChart& chart, double width, const std::string& id) {
  double note_width = 0;
  std::vector<double> values = {0};
  for (const Bar& bar : chart.bars) {
    note_width = std::max(note_width, text_width(note_of(bar)));
    values.push_back(std::max(sum_of(bar), bar.high.value_or(0)));
  }
  const double top = legend_height(chart.parts, width - 4) + 8;
  const double bottom = top + kBarPitch * static_cast<double>(chart.bars.size());
  const Scale x(chart.x, values, 0, std::max(width / 3, width - note_width - 10));
  Svg svg(width, bottom + 44, chart.text.title, id);
  svg.legend(chart.parts, 0, 2, chart.colours);
  for (const Tick& tick : x.ticks()) {
    svg.line(x(tick.value), top, x(tick.value), bottom + 4, "grid");
    svg.text(x(tick.value), bottom + 19, tick.label, "soft",
             x(tick.value) < 10 ? Anchor::kStart : Anchor::kMiddle);
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    draw_bar(svg, chart, chart.bars[i], top + kBarPitch * static_cast<double>(i), x);
  svg.text(0, bottom + 37, chart.x.label, "soft");
  return std::move(svg).finish();
}

}  // namespace smartmig
