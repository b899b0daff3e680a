#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"

namespace smartmig {
namespace {

constexpr double kSwatch = 10;
constexpr double kLegendRow = 18;
constexpr double kLegendGap = 16;

// Where each name of a legend goes: column and row, for names in order. Names that are empty are
// left out, and no name is wider than the room.
struct LegendPlace {
  double x = 0;
  int row = 0;
};
std::vector<LegendPlace> place_legend(const std::vector<std::string>& names, double room) {
  std::vector<LegendPlace> places;
  double x = 0;
  int row = 0;
  for (const std::string& name : names) {
    if (name.empty()) {
      places.push_back({0, -1});
      continue;
    }
    const double needed = std::min(room, kSwatch + 6 + text_width(name) + kLegendGap);
    if (x > 0 && x + needed > room + kLegendGap) x = 0, ++row;
    places.push_back({x, row});
    x += needed;
  }
  return places;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title, std::string_view id) : width_(width) {
  out_ = fmt::format(
      "<svg role=\"img\" aria-labelledby=\"{0}-title\" viewBox=\"0 0 {1} {2}\" width=\"{1}\" "
      "height=\"{2}\" xmlns=\"http://www.w3.org/2000/svg\"><title id=\"{0}-title\">{3}</title>\n",
      escaped(id), coordinate(width), coordinate(height), escaped(title));
}

void Svg::open(std::string_view element) {
  fmt::format_to(std::back_inserter(out_), "<{}", element);
}

void Svg::attribute(std::string_view name, double value) {
  fmt::format_to(std::back_inserter(out_), " {}=\"{}\"", name, coordinate(value));
}

void Svg::close(std::string_view element, std::string_view classes, std::string_view tooltip) {
  if (!classes.empty()) fmt::format_to(std::back_inserter(out_), " class=\"{}\"", classes);
  if (tooltip.empty()) {
    out_ += "/>\n";
  } else {
    fmt::format_to(std::back_inserter(out_), "><title>{}</title></{}>\n", escaped(tooltip),
                   element);
  }
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  open("line");
  attribute("x1", x1);
  attribute("y1", y1);
  attribute("x2", x2);
  attribute("y2", y2);
  close("line", classes, "");
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes,
               std::string_view tooltip) {
  open("rect");
  attribute("x", x);
  attribute("y", y);
  attribute("width", width);
  attribute("height", height);
  close("rect", classes, tooltip);
}

void Svg::circle(double x, double y, double radius, std::string_view classes,
                 std::string_view tooltip) {
  open("circle");
  attribute("cx", x);
  attribute("cy", y);
  attribute("r", radius);
  close("circle", classes, tooltip);
}

void Svg::path(std::string_view d, std::string_view classes, std::string_view tooltip) {
  fmt::format_to(std::back_inserter(out_), "<path d=\"{}\"", d);
  close("path", classes, tooltip);
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, Anchor anchor) {
  open("text");
  attribute("x", x);
  attribute("y", y);
  if (anchor == Anchor::kMiddle) out_ += " text-anchor=\"middle\"";
  if (anchor == Anchor::kEnd) out_ += " text-anchor=\"end\"";
  fmt::format_to(std::back_inserter(out_), " class=\"{}\">{}</text>\n", classes, escaped(text));
}

void Svg::legend(const std::vector<std::string>& names, double left, double y,
                 const std::vector<std::size_t>& colours) {
  const double room = width_ - left - 4;
  const std::vector<LegendPlace> places = place_legend(names, room);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (places[i].row < 0) continue;
    const double x = left + places[i].x;
    const double top = y + places[i].row * kLegendRow;
    rect(x, top, kSwatch, kSwatch, fill_class(colours.empty() ? i : colours[i]));
    text(x + kSwatch + 6, top + kSwatch - 1, fitted(names[i], room - kSwatch - 6), "ink");
  }
}

std::string Svg::finish() && {
  out_ += "</svg>";
  return std::move(out_);
}

std::string fill_class(std::size_t series) { return fmt::format("f{}", series % 8 + 1); }
std::string stroke_class(std::size_t series) { return fmt::format("s{}", series % 8 + 1); }

double text_width(std::string_view text) {
  return 0.56 * kFontSize * static_cast<double>(character_count(text));
}

std::string fitted(std::string_view text, double room) {
  if (text_width(text) <= room) return std::string(text);
  return shortened(text, static_cast<std::size_t>(std::max(1., room / (0.56 * kFontSize))));
}

double legend_height(const std::vector<std::string>& names, double room) {
  int rows = 0;
  for (const LegendPlace& place : place_legend(names, room)) rows = std::max(rows, place.row + 1);
  return rows * kLegendRow;
}

PlotArea plot_area(double width, double top, double height, const std::vector<Tick>& y_ticks) {
  double widest = 0;
  for (const Tick& tick : y_ticks) widest = std::max(widest, text_width(tick.label));
  return {widest + 12, top, width - 14, top + height};
}

void draw_axes(Svg& svg, const PlotArea& area, const Scale& x, const Scale& y,
               std::string_view x_label, std::string_view y_label) {
  svg.text(0, area.top - 10, y_label, "soft");
  for (const Tick& tick : y.ticks()) {
    const double at = y(tick.value);
    svg.line(area.left, at, area.right, at, "grid");
    svg.text(area.left - 6, at + 4, tick.label, "soft", Anchor::kEnd);
  }
  svg.line(area.left, area.bottom, area.right, area.bottom, "axis");
  double free_from = 0;  // Labels that would touch the one before are left out.
  for (const Tick& tick : x.ticks()) {
    const double at = x(tick.value);
    const double half = text_width(tick.label) / 2;
    svg.line(at, area.bottom, at, area.bottom + 4, "axis");
    if (at - half < free_from) continue;
    const bool at_edge = at + half > svg.width();
    svg.text(at_edge ? svg.width() : at, area.bottom + 17, tick.label, "soft",
             at_edge ? Anchor::kEnd : Anchor::kMiddle);
    free_from = at + half + 6;
  }
  svg.text((area.left + area.right) / 2, area.bottom + 35, x_label, "soft", Anchor::kMiddle);
}

}  // namespace smartmig
