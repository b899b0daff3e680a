#include "report/chart.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "report/count_of.h"
#include "report/run_charts.h"
#include "report/svg.h"

namespace smartmig {
namespace {

ScatterPoint at(double x, double y) { return {x, y, "p"}; }

TEST(Chart, TheParetoFrontHasWhatNoOtherBeatsOnBothAxes) {
  EXPECT_EQ(pareto_front({at(3, 3), at(1, 5), at(2, 6), at(5, 1), at(4, 3)}),
            (std::vector<std::size_t>{1, 0, 3}));
  EXPECT_EQ(pareto_front({at(1, 1), at(1, 1)}), (std::vector<std::size_t>{0, 1}))
      << "equal points beat each other in nothing";
}

TEST(Chart, EverySeriesHasItsLineAndItsName) {
  LineChart chart{{"c", "Two lines"}, {"x"}, {"y"}, {}};
  chart.series.push_back({"first", {{0, 1}, {1, 2, 1.5, 2.5}}});
  chart.series.push_back({"sec<ond", {{0, 3, 2, 4}, {1, 4, 3, 5}}});
  const std::string svg = draw(chart, 700, "id");
  EXPECT_EQ(count_of(svg, " line\""), 2u);
  EXPECT_EQ(count_of(svg, " band\""), 1u) << "a band needs both ends at every point";
  EXPECT_NE(svg.find(">sec&lt;ond</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title id=\"id-title\">Two lines</title>"), std::string::npos);
}

TEST(Chart, ABarIsAsLongAsItsValue) {
  BarChart chart{{"c", "Bars"}, {"kWh"}, {"a", "b"}, {{"one", {2, 3}}, {"two", {10, 0}}}};
  chart.x.low = 0;
  chart.x.high = 10;
  const std::string svg = draw(chart, 500, "id");
  // The widest note, "10", leaves 500 - 10 - its width for ten units.
  const double unit = (500 - 10 - text_width("10")) / 10;
  EXPECT_NE(svg.find(fmt::format("width=\"{:g}\" height=\"16\" class=\"f1\"><title>one, a: 2<",
                                 std::round(200 * unit) / 100)),
            std::string::npos)
      << svg;
}

TEST(Chart, ColumnsLeaveOutLabelsThatHaveNoRoom) {
  ColumnChart chart{{"c", "Columns"}, "hour", {"share"}, {""}, {}, {}};
  for (int i = 0; i < 100; ++i) {
    chart.columns.push_back(fmt::format("{}", 1000 + i));
    chart.values.push_back({1.0 * i});
  }
  const std::string svg = draw(chart, 340, "id");
  EXPECT_EQ(count_of(svg, "<rect"), 99u) << "one for each value that is not 0";
  EXPECT_LT(count_of(svg, ">10"), 20u + 99u);
}

TEST(Chart, LearningCurvesOfBothKindsAreRead) {
  const auto ppo =
      learning_curve_chart("iteration,steps,episodes,mean_et\n1,10,0,\n2,20,3,1.5\n", "c.csv");
  ASSERT_TRUE(ppo) << ppo.error().message;
  ASSERT_EQ(ppo->series.size(), 1u);
  ASSERT_EQ(ppo->series[0].points.size(), 1u) << "no episode ended in the first";
  EXPECT_EQ(ppo->series[0].points[0].y, 1.5);
  const auto evolved =
      learning_curve_chart("generation,evaluations,best,median,sigma\n1,8,-.1,.2,.3\n", "c.csv");
  ASSERT_TRUE(evolved) << evolved.error().message;
  EXPECT_EQ(evolved->series.size(), 2u);
}

TEST(Chart, ALearningCurveThatIsNoneIsRefused) {
  EXPECT_EQ(
      learning_curve_chart("a,b\n1,2\n", "c.csv").error().message,
      "c.csv: found neither a column generation nor mean_et, expected a file of train --curve");
  EXPECT_EQ(
      learning_curve_chart("steps,mean_et\n1,x\n", "c.csv").error().message,
      "c.csv:2: mean_et: found 'x', expected a number from -1000000000000000 to 1000000000000000");
}

}  // namespace
}  // namespace smartmig
