// An SVG picture as it is drawn: the few shapes that charts are made of. Classes: f1 to f8 fill and
// s1 to s8 stroke with the colour of a series; `grid`, `axis`, `ink` and `soft` are the frame's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/axis.h"

namespace smartmig {

inline constexpr double kFontSize = 12;

enum class Anchor { kStart, kMiddle, kEnd };

class Svg {
 public:
  Svg(double width, double height, std::string_view title, std::string_view id);

  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rect(double x, double y, double width, double height, std::string_view classes,
            std::string_view tooltip = "");
  void circle(double x, double y, double radius, std::string_view classes,
              std::string_view tooltip = "");
  void path(std::string_view d, std::string_view classes, std::string_view tooltip = "");
  void text(double x, double y, std::string_view text, std::string_view classes,
            Anchor anchor = Anchor::kStart);
  // Names of series with their colours, in as many rows as they need, from y on. Series whose name
  // is empty have no entry.
  void legend(const std::vector<std::string>& names, double left, double y,
              const std::vector<std::size_t>& colours = {});

  double width() const { return width_; }
  std::string finish() &&;

 private:
  void open(std::string_view element);
  void close(std::string_view element, std::string_view classes, std::string_view tooltip);
  void attribute(std::string_view name, double value);

  std::string out_;
  double width_;
};

// "f3" for the third series; colours come again after the eighth.
std::string fill_class(std::size_t series);
std::string stroke_class(std::size_t series);

// Roughly: there is no font to ask.
double text_width(std::string_view text);
// The text, its middle left out where it is wider than `room`.
std::string fitted(std::string_view text, double room);
// How high Svg::legend() will be.
double legend_height(const std::vector<std::string>& names, double room);

// The area of a chart with its two axes, drawn around what the caller puts into it.
struct PlotArea {
  double left = 0, top = 0, right = 0, bottom = 0;
};
// Room for the ticks' labels of y at the left, and for x's ticks and label below.
PlotArea plot_area(double width, double top, double height, const std::vector<Tick>& y_ticks);
void draw_axes(Svg& svg, const PlotArea& area, const Scale& x, const Scale& y,
               std::string_view x_label, std::string_view y_label);

}  // namespace smartmig
