// Charts as data, and their pictures as SVG text. A picture has no size in pixels of its own: it is
// drawn for a width, wide or narrow, and its colours are classes that the page's style (or the
// style that is saved with it) fills in, so that one picture serves light and dark.
//
//   LineChart chart{{"knee", "Energy as GPUs are added"}, {"GPUs"}, {"energy, kWh"}, {}};
//   chart.series.push_back({"count/cedf", {{4, 310}, {6, 280}, {8, 275}}});
//   page.add(chart);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/axis.h"

namespace smartmig {

struct ChartText {
  std::string name;          // Of the saved file, and unique in its page: "energy-by-gpu".
  std::string title;         // One line.
  std::string caption = {};  // What it shows and how to read it; may be empty.
};

struct LinePoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = {}, high = {};  // A band, where every neighbour has one too.
};
struct LineSeries {
  std::string name;
  std::vector<LinePoint> points;  // In order of x.
  bool dots = false;              // Mark each point: few, and measured one by one.
  bool dashed = false;            // Something to compare with.
};
// A point that is named in the picture: a knee, an optimum.
struct NamedPoint {
  double x = 0;
  double y = 0;
  std::string label;
};
// A level that is named in the picture: a bound, a target.
struct Level {
  double y = 0;
  std::string label;
};
struct LineChart {
  ChartText text;
  Axis x, y;
  std::vector<LineSeries> series;
  std::vector<NamedPoint> marks = {};
  std::vector<Level> levels = {};
};

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string label;
  std::optional<double> x_low = {}, x_high = {}, y_low = {}, y_high = {};  // Intervals, as a cross.
};
struct ScatterChart {
  ChartText text;
  Axis x, y;
  std::vector<ScatterPoint> points;
  bool front = false;  // Join those that no other is below on both axes.
  // Nothing can lie below or left of it: its two lines are drawn.
  std::optional<NamedPoint> bound = {};
};
// Which points no other is at or below on both axes (equal ones: all of them), in order of x.
std::vector<std::size_t> pareto_front(const std::vector<ScatterPoint>& points);

// Horizontal bars, each of one or more parts end to end; for labels of any length.
struct Bar {
  std::string label;
  std::vector<double> values;                 // One for each of the chart's parts.
  std::optional<double> low = {}, high = {};  // Interval of the sum.
  std::string note = {};                      // Behind the bar; empty: the sum.
};
struct BarChart {
  ChartText text;
  Axis x;
  std::vector<std::string> parts;  // One unnamed part: {""}.
  std::vector<Bar> bars;
  // Numbers of the parts' colours; empty: 0, 1, 2, ...
  std::vector<std::size_t> colours = {};
};

// Columns side by side along x, each of one or more parts on top of each other: histograms (one
// part) and shares over time.
struct ColumnChart {
  ChartText text;
  std::string x_label;
  Axis y;
  std::vector<std::string> parts;
  std::vector<std::string> columns;         // Labels; those that have no room are left out.
  std::vector<std::vector<double>> values;  // By column, then part.
};

// SVG elements for a picture `width` units wide; `id` is unique in the page.
std::string draw(const LineChart& chart, double width, const std::string& id);
std::string draw(const ScatterChart& chart, double width, const std::string& id);
std::string draw(const BarChart& chart, double width, const std::string& id);
std::string draw(const ColumnChart& chart, double width, const std::string& id);

}  // namespace smartmig
