#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace smartmig {
namespace {

constexpr double kScatterHeight = 320;

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct LabelPlace {
  double x, y;
  Anchor anchor;
  Box box;
};

// Candidates around a point, best first.
std::vector<LabelPlace> label_places(double x, double y, double width) {
  const double height = kFontSize + 2;
  std::vector<LabelPlace> places;
  for (const double up : {-9., 18., 4., -23., 32., -37., 46.}) {
    const double base = y + up;
    places.push_back(
        {x + 10, base, Anchor::kStart, {x + 9, base - height + 3, x + 11 + width, base + 3}});
    places.push_back(
        {x - 10, base, Anchor::kEnd, {x - 11 - width, base - height + 3, x - 9, base + 3}});
  }
  return places;
}

// Writes each label where it meets nothing written before, or, where there is no such place, leaves
// it to the legend and the tooltip.
class LabelWriter {
 public:
  LabelWriter(Svg& svg, const PlotArea& area) : svg_(svg), area_(area) {}
  void keep_free(double x, double y, double radius) {
    taken_.push_back({x - radius, y - radius, x + radius, y + radius});
  }
  bool write(double x, double y, const std::string& label) {
    for (const LabelPlace& place : label_places(x, y, text_width(label))) {
      const bool inside = place.box.left >= area_.left && place.box.right <= svg_.width() &&
                          place.box.top >= area_.top - 6 && place.box.bottom <= area_.bottom;
      const bool free = std::none_of(taken_.begin(), taken_.end(),
                                     [&](const Box& box) { return box.meets(place.box); });
      if (!inside || !free) continue;
      svg_.text(place.x, place.y, label, "ink halo", place.anchor);
      taken_.push_back(place.box);
      return true;
    }
    return false;
  }

 private:
  Svg& svg_;
  PlotArea area_;
  std::vector<Box> taken_;
};

void add_values(std::vector<double>& values, double value, const std::optional<double>& low,
                const std::optional<double>& high) {
  values.push_back(value);
  values.push_back(low.value_or(value));
  values.push_back(high.value_or(value));
}

void draw_front(Svg& svg, const ScatterChart& chart, const Scale& x, const Scale& y) {
  std::string d;
  double last_y = 0;
  // Stairs: what lies between two points of the front is not reached by any.
  for (const std::size_t i : pareto_front(chart.points)) {
    const double at_x = x(chart.points[i].x);
    const double at_y = y(chart.points[i].y);
    d += d.empty() ? fmt::format("M{} {}", coordinate(at_x), coordinate(at_y))
                   : fmt::format("L{0} {1}L{0} {2}", coordinate(at_x), coordinate(last_y),
                                 coordinate(at_y));
    last_y = at_y;
  }
  svg.path(d, "front", "Pareto front");
}

void draw_interval(Svg& svg, const ScatterPoint& point, std::size_t index, const Scale& x,
                   const Scale& y) {
  if (point.x_low && point.x_high)
    svg.line(x(*point.x_low), y(point.y), x(*point.x_high), y(point.y), stroke_class(index));
  if (point.y_low && point.y_high)
    svg.line(x(point.x), y(*point.y_low), x(point.x), y(*point.y_high), stroke_class(index));
}

void draw_bound(Svg& svg, const NamedPoint& bound, const PlotArea& area, const Scale& x,
                const Scale& y, LabelWriter& labels) {
  svg.line(x(bound.x), area.top, x(bound.x), area.bottom, "level");
  svg.line(area.left, y(bound.y), area.right, y(bound.y), "level");
  labels.write(x(bound.x), y(bound.y) - 12, bound.label);
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<ScatterPoint>& points) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const ScatterPoint& other) {
      return other.x <= points[i].x && other.y <= points[i].y &&
             (other.x < points[i].x || other.y < points[i].y);
    });
    if (!beaten) front.push_back(i);
  }
  std::stable_sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) {
    return points[a].x != points[b].x ? points[a].x < points[b].x : points[a].y > points[b].y;
  });
  return front;
}

std::string draw(const ScatterChart& chart, double width, const std::string& id) {
  std::vector<std::string> names;
  std::vector<double> xs;
  std::vector<double> ys;
  for (const ScatterPoint& point : chart.points) {
    names.push_back(point.label);
    add_values(xs, point.x, point.x_low, point.x_high);
    add_values(ys, point.y, point.y_low, point.y_high);
  }
  if (chart.bound) xs.push_back(chart.bound->x), ys.push_back(chart.bound->y);
  const double top = legend_height(names, width - 4) + 28;
  const Scale y(chart.y, ys, top + kScatterHeight, top);
  const PlotArea area = plot_area(width, top, kScatterHeight, y.ticks());
  const Scale x(chart.x, xs, area.left, area.right);
  Svg svg(width, area.bottom + 42, chart.text.title, id);
  svg.legend(names, 0, 2);
  draw_axes(svg, area, x, y, chart.x.label, chart.y.label);
  LabelWriter labels(svg, area);
  for (const ScatterPoint& point : chart.points) labels.keep_free(x(point.x), y(point.y), 6);
  if (chart.bound) draw_bound(svg, *chart.bound, area, x, y, labels);
  if (chart.front && chart.points.size() > 1) draw_front(svg, chart, x, y);
  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const ScatterPoint& point = chart.points[i];
    draw_interval(svg, point, i, x, y);
    svg.circle(x(point.x), y(point.y), 5, fill_class(i),
               fmt::format("{}: {}, {}", point.label, readable(point.x), readable(point.y)));
  }
  // The legend has the whole names; in a narrow picture it has to do.
  if (width >= 500) {
    for (const ScatterPoint& point : chart.points)
      labels.write(x(point.x), y(point.y), shortened(point.label, 34));
  }
  return std::move(svg).finish();
}

}  // namespace smartmig
