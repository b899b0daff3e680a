#include "report/axis.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

std::string labels(const Scale& scale) {
  std::string out;
  for (const Tick& tick : scale.ticks()) out += (out.empty() ? "" : " ") + tick.label;
  return out;
}

TEST(Axis, TicksAreRoundAndHoldAllValues) {
  const Scale scale({"x"}, {3.2, 17.9}, 0, 100);
  EXPECT_EQ(labels(scale), "0 5 10 15 20");
  EXPECT_EQ(scale(0), 0);
  EXPECT_EQ(scale(20), 100);
  EXPECT_EQ(scale(10), 50);
}

TEST(Axis, LogTicksAreDecadesWhereThereAreMany) {
  Axis axis{"x"};
  axis.log = true;
  const Scale scale(axis, {0.3, 2500}, 0, 100);
  EXPECT_EQ(labels(scale), "1 10 100 1,000");
  EXPECT_EQ(labels(Scale(axis, {0.3, 9}, 0, 100)), "0.2 0.5 1 2 5 10");
  EXPECT_EQ(scale(0), 0) << "what a logarithm cannot show stands at the low end";
}

TEST(Axis, OneValueStillMakesAnAxis) {
  const Scale scale({"x"}, {7, 7}, 0, 100);
  EXPECT_LT(scale.low(), 7);
  EXPECT_GT(scale.high(), 7);
  EXPECT_GE(scale.ticks().size(), 2u);
}

TEST(Axis, NumbersAreReadable) {
  EXPECT_EQ(readable(0), "0");
  EXPECT_EQ(readable(1.7149), "1.715");
  EXPECT_EQ(readable(1234567), "1,234,567");
  EXPECT_EQ(readable(-1000), "-1,000");
  EXPECT_EQ(readable(999), "999");
  EXPECT_EQ(readable(0.00012), "0.00012");
}

}  // namespace
}  // namespace smartmig
