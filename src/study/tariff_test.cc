#include "study/tariff.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// 24 rows, the price of hour h being h + 1 and its carbon 10 h.
std::string good(bool carbon) {
  std::string text = carbon ? "hour,price_per_kwh,g_co2_per_kwh\n" : "hour,price_per_kwh\n";
  for (int hour = 23; hour >= 0; --hour) {
    text += fmt::format("{},{}", hour, hour + 1);
    text += carbon ? fmt::format(",{}\n", 10 * hour) : "\n";
  }
  return text;
}

std::string tariff_error_of(const std::string& text) {
  const auto tariff = parse_tariff(text, "t.csv");
  return tariff ? "" : tariff.error().message;
}

TEST(Tariff, IsReadInAnyOrderOfHours) {
  const auto tariff = parse_tariff(good(true), "t.csv");
  ASSERT_TRUE(tariff) << tariff.error().message;
  EXPECT_EQ(tariff->price_per_kwh[0], 1);
  EXPECT_EQ(tariff->price_per_kwh[23], 24);
  EXPECT_EQ((*tariff->g_co2_per_kwh)[7], 70);
  EXPECT_FALSE(parse_tariff(good(false), "t.csv")->g_co2_per_kwh);
}

TEST(Tariff, PricesTheEnergyOfEachHour) {
  ByHour energy_j{};
  energy_j[0] = 3.6e6;
  energy_j[5] = 7.2e6;
  Metrics metrics;
  price(*parse_tariff(good(true), "t.csv"), energy_j, metrics);
  EXPECT_DOUBLE_EQ(metrics.cost, 1 * 1 + 2 * 6);
  EXPECT_DOUBLE_EQ(metrics.co2_kg, 2 * .05);
}

TEST(Tariff, PricesMayBeBelowZero) {
  std::string text = good(false);
  text.replace(text.find("\n3,4\n"), 5, "\n3,-4\n");
  EXPECT_EQ(parse_tariff(text, "t.csv")->price_per_kwh[3], -4);
}

TEST(Tariff, RefusesWhatItDoesNotUnderstandAndSaysWhere) {
  EXPECT_EQ(tariff_error_of("hour,price\n0,1\n"),
            "t.csv:1: column price_per_kwh is missing from the header");
  EXPECT_EQ(tariff_error_of("hour,price_per_kwh\n0,1\n0,2\n"),
            "t.csv:3: hour: found '0', expected each hour once, it is there already");
  EXPECT_EQ(tariff_error_of("hour,price_per_kwh\n24,1\n"),
            "t.csv:2: hour: found '24', expected an hour from 0 to 23");
  EXPECT_EQ(tariff_error_of("hour,price_per_kwh\n0,1\n1,2\n"),
            "t.csv: hour: 2 is missing, expected a row for each of 0 to 23");
  EXPECT_EQ(tariff_error_of("hour,price_per_kwh\n0,cheap\n"),
            "t.csv:2: price_per_kwh: found 'cheap', expected a number from -1000000 to 1000000");
  EXPECT_EQ(tariff_error_of("hour,price_per_kwh,g_co2_per_kwh\n0,1,-1\n"),
            "t.csv:2: g_co2_per_kwh: found '-1', expected a number from 0 to 1000000");
}

TEST(Tariff, MayNameItsCurrency) {
  const auto with = [](const std::string& first, const std::string& rest) {
    std::string text = "hour,price_per_kwh,currency\n";
    for (int hour = 0; hour < 24; ++hour)
      text += fmt::format("{},1,{}\n", hour, hour == 0 ? first : rest);
    return text;
  };
  EXPECT_EQ(parse_tariff(with("EUR", "EUR"), "t.csv")->currency, "EUR");
  EXPECT_EQ(parse_tariff(good(true), "t.csv")->currency, "");
  EXPECT_EQ(tariff_error_of(with("EUR", "USD")),
            "t.csv:3: currency: found 'USD', expected EUR, as in the rows before");
  EXPECT_EQ(tariff_error_of(with("<b>", "EUR")),
            "t.csv:2: currency: found '<b>', expected 1 to 8 letters, such as EUR");
}

}  // namespace
}  // namespace smartmig
