// A page of results: one HTML file that needs nothing else. Tables and pictures are in it as HTML
// and SVG, so that it can be read without JavaScript; a small script (web/report.js) adds sorting,
// saving, dark on demand and the moving timeline. Sections show in the order they were added; the
// same calls make the same bytes.
//
//   Page page("Three policies on ten days", "smartmig compare");
//   page.section("Comparison");
//   page.paragraph("Lower is better.");
//   page.add(table);
//   page.add(chart);
//   page.origin(origin);
//   std::string html = std::move(page).html();
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/chart.h"

namespace smartmig {

struct PageTable {
  struct Column {
    std::string head;
    bool number = true;    // Aligned right.
    std::string key = {};  // Its name in the saved CSV; empty: `head`.
  };
  struct Cell {
    Cell(std::string shown) : text(std::move(shown)) {}
    Cell(const char* shown) : text(shown) {}
    // `of` is what the cell is sorted by and what the CSV has, to its last digit.
    Cell(std::string shown, double of) : text(std::move(shown)), value(of) {}
    // With its interval as a second line; the CSV has the ends in columns of their own.
    Cell(std::string shown, std::string interval, double of, std::optional<double> from,
         std::optional<double> to)
        : text(std::move(shown)), detail(std::move(interval)), value(of), low95(from), high95(to) {}
    std::string text;
    std::string detail;  // A second, smaller line.
    std::optional<double> value;
    std::optional<double> low95, high95;
  };

  std::string name;     // Of the saved file, and unique in its page.
  std::string caption;  // What a row is, and the units.
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // The first cell of a row names it.
};

// Where the numbers of a page come from: printed at its end.
struct PageOrigin {
  std::string command;
  std::string version;
  struct Fact {
    std::string what;  // "seed", "input trace.csv, sha256"
    std::string value;
  };
  std::vector<Fact> facts = {};
};

// Something the page's script draws; PageWidget's maker says how (timeline.h).
struct PageWidget {
  std::string name;   // Unique in the page.
  std::string kind;   // web/KIND.js takes it, after web/KIND_*.js.
  std::string label;  // What it is called.
  std::string caption;
  std::string still_svg;  // What is shown where there is no script.
  std::string data;       // JSON text for the script.
};

class Page {
 public:
  Page(std::string title, std::string subtitle);

  // The result in a sentence or two, before everything else.
  void summary(std::string_view text);
  // What comes next belongs to this section until the next one begins.
  void section(std::string_view heading);
  void subsection(std::string_view heading);
  // `text` between backticks is set as code, here and in the summary.
  void paragraph(std::string_view text);
  void add(const PageTable& table);
  template <class Chart>
  void add(const Chart& chart) {
    add_figure(chart.text, draw(chart, kWide, chart.text.name + "-wide"),
               draw(chart, kNarrow, chart.text.name + "-narrow"));
  }
  // Small multiples: as many side by side as have room.
  template <class Chart>
  void add_side_by_side(const std::vector<Chart>& charts) {
    open_row();
    for (const Chart& chart : charts)
      add_figure(chart.text, draw(chart, kNarrow, chart.text.name + "-small"), "");
    close_row();
  }
  void add(const PageWidget& widget);
  // For programs: the JSON that the command prints, as <script type="application/json" id="...">.
  void data(std::string_view id, const nlohmann::ordered_json& json);
  void origin(const PageOrigin& origin);

  std::string html() &&;

 private:
  // Charts are drawn for two widths and the style shows the one that fits: text that shrinks with
  // its picture cannot be read on a phone.
  static constexpr double kWide = 980;
  static constexpr double kNarrow = 340;

  void add_figure(const ChartText& text, const std::string& wide, const std::string& narrow);
  void close_section();
  void open_row();
  void close_row();

  struct Heading {
    std::string id;
    std::string text;
  };
  std::string title_;
  std::string subtitle_;
  std::string summary_;
  std::string body_;
  std::string footer_;
  std::string data_;
  std::vector<Heading> contents_;
  std::vector<std::string> kinds_;  // Of widgets: web/ has a script for each.
  bool in_section_ = false;
};

// JSON that may stand inside a <script> element: "</" cannot end it.
std::string script_safe(std::string json);

}  // namespace smartmig
