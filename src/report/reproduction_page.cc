#include "report/reproduction_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace smartmig {
namespace {

using Item = Reproduction::Item;

BarChart counts_chart(const Reproduction& reproduction) {
  BarChart chart{
      {"verdicts", "Numbers by verdict",
       "A number agrees where the paper's lies in our 95 % interval, widened by the error "
       "of reading a plot."},
      {"numbers"},
      {"agrees", "differs", "not stated"},
      {}};
  for (const Item& item : reproduction.items) {
    const auto count = [&](Verdict verdict) {
      return static_cast<double>(count_verdicts(item, verdict));
    };
    chart.bars.push_back(
        {item.item->name,
         {count(Verdict::kAgrees), count(Verdict::kDiffers), count(Verdict::kNotStated)}});
  }
  return chart;
}

PageTable::Cell ours_cell(const ReproducedRow& row) {
  const std::string mean = fmt::format("{:.4g}", row.ours);
  if (!row.low95) return {mean, row.ours};
  return {mean, fmt::format("{:.4g} to {:.4g}", *row.low95, *row.high95), row.ours, row.low95,
          row.high95};
}

PageTable item_table(const Item& item) {
  PageTable table{item.item->name,
                  item.item->source,
                  {{"what", false}, {"unit", false}, {"paper"}, {"ours"}, {"verdict", false}},
                  {}};
  const std::vector<std::string> notes = notes_of(item);
  for (const ReproducedRow& row : item.rows) {
    table.rows.push_back({row.what, row.unit,
                          row.theirs ? PageTable::Cell(theirs_text(row), *row.theirs) : "-",
                          ours_cell(row), verdict_text(row, notes)});
  }
  return table;
}

LineSeries series_of(const std::string& name, const std::vector<PlanePoint>& curve) {
  LineSeries series{name, {}, true};
  for (const PlanePoint& point : curve) series.points.push_back({point.energy, point.tardiness});
  std::ranges::stable_sort(series.points, {}, &LinePoint::x);
  return series;
}

// Theirs and ours on axes of their own: they may be far apart.
void add_curves(Page& page, const Item& item) {
  for (std::size_t i = 0; i < item.curves.size(); ++i) {
    const ReproducedCurve& curve = item.curves[i];
    const auto add = [&](const char* whose, const std::vector<PlanePoint>& points,
                         const std::optional<std::size_t>& knee) {
      LineChart chart{{fmt::format("{}-{}-{}", item.item->name, whose, i),
                       fmt::format("{}: {}", curve.what, whose)},
                      {"energy, kJ"},
                      {"tardiness, s"},
                      {series_of(whose, points)}};
      chart.y.low = 0;
      if (knee) {
        chart.marks.push_back({points[*knee].energy, points[*knee].tardiness,
                               fmt::format("knee: {:g} {}", curve.values[*knee], curve.unit)});
      }
      page.add(chart);
    };
    add("paper", curve.theirs, curve.their_knee);
    add("ours", curve.ours, curve.our_knee);
  }
}

void add_item(Page& page, const Item& item) {
  page.section(fmt::format("{}: {}", item.item->name, item.item->title));
  page.paragraph(item.item->text);
  page.add(item_table(item));
  const std::vector<std::string> notes = notes_of(item);
  for (std::size_t i = 0; i < notes.size(); ++i)
    page.paragraph(fmt::format("({}) {}", i + 1, notes[i]));
  add_curves(page, item);
  for (const std::string& command : commands_of(item)) page.paragraph("`" + command + "`");
}

}  // namespace

std::string reproduction_page(const Reproduction& reproduction, const PageOrigin& origin) {
  Page page("Published results, and ours", reproduction.command);
  page.summary(counts_text(reproduction));
  page.section("All items");
  page.add(counts_chart(reproduction));
  page.section("Assumptions");
  page.paragraph(
      "Each number is made by the command under its table. What a command does not say is the "
      "papers' setting: deadlines 1 to 1.5 times the time on 7g, 20 % training jobs, the papers' "
      "four speed profiles, policies that know the true run times, jobs that fit every slice, the "
      "A100-40GB's measured power, and no costs or limits of preemption.");
  for (const Item& item : reproduction.items) add_item(page, item);
  page.data("result", to_json(reproduction));
  page.origin(origin);
  return std::move(page).html();
}

}  // namespace smartmig
