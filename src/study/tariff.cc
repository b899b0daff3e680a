#include "study/tariff.h"

#include <algorithm>
#include <bitset>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"

namespace smartmig {
namespace {

constexpr double kMostPrice = 1e6;  // A kWh; far above any, and sums stay finite.
constexpr double kMostGrams = 1e6;

// Of the present row: one that the file has not had.
Result<std::size_t> read_hour(const CsvReader& csv, std::size_t column, std::bitset<24>& seen) {
  const auto hour = parse_integer(csv.field(column));
  if (!hour || *hour < 0 || *hour > 23)
    return tl::unexpected<Error>(csv.bad_field(column, "an hour from 0 to 23"));
  const auto index = static_cast<std::size_t>(*hour);
  if (seen[index])
    return tl::unexpected<Error>(csv.bad_field(column, "each hour once, it is there already"));
  seen.set(index);
  return index;
}

// A word such as EUR, the same in every row.
Result<void> read_currency(const CsvReader& csv, std::size_t column, std::string& currency) {
  const std::string_view word = csv.field(column);
  const bool letters = std::ranges::all_of(
      word, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
  if (word.empty() || word.size() > 8 || !letters)
    return tl::unexpected<Error>(csv.bad_field(column, "1 to 8 letters, such as EUR"));
  if (!currency.empty() && currency != word)
    return tl::unexpected<Error>(csv.bad_field(column, currency + ", as in the rows before"));
  currency = word;
  return {};
}

}  // namespace

Result<Tariff> parse_tariff(std::string_view text, const std::string& name) {
  auto csv = CsvReader::open(text, name);
  if (!csv) return pass_on(csv);
  const auto hour_column = csv->require("hour");
  if (!hour_column) return pass_on(hour_column);
  const auto price_column = csv->require("price_per_kwh");
  if (!price_column) return pass_on(price_column);
  const auto grams_column = csv->find("g_co2_per_kwh");
  const auto currency_column = csv->find("currency");
  Tariff tariff;
  if (grams_column) tariff.g_co2_per_kwh.emplace();
  std::bitset<24> seen;
  while (csv->next()) {
    const auto hour = read_hour(*csv, *hour_column, seen);
    if (!hour) return pass_on(hour);
    const auto price = csv->number(*price_column, -kMostPrice, kMostPrice);
    if (!price) return pass_on(price);
    tariff.price_per_kwh[*hour] = *price;
    if (currency_column) {
      const auto currency = read_currency(*csv, *currency_column, tariff.currency);
      if (!currency) return pass_on(currency);
    }
    if (!grams_column) continue;
    const auto grams = csv->number(*grams_column, 0, kMostGrams);
    if (!grams) return pass_on(grams);
    (*tariff.g_co2_per_kwh)[*hour] = *grams;
  }
  if (csv->error()) return tl::unexpected<Error>(*csv->error());
  for (std::size_t hour = 0; hour < seen.size(); ++hour) {
    if (!seen[hour])
      return fail("{}: hour: {} is missing, expected a row for each of 0 to 23", name, hour);
  }
  return tariff;
}

Result<Tariff> read_tariff(const std::string& path) {
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  return parse_tariff(*text, path);
}

void price(const Tariff& tariff, const ByHour& energy_j, Metrics& metrics) {
  metrics.cost = metrics.co2_kg = 0;
  for (std::size_t hour = 0; hour < energy_j.size(); ++hour) {
    const double kwh = energy_j[hour] / kJoulesPerKwh;
    metrics.cost += kwh * tariff.price_per_kwh[hour];
    if (tariff.g_co2_per_kwh) metrics.co2_kg += kwh * (*tariff.g_co2_per_kwh)[hour] / 1000;
  }
}

}  // namespace smartmig
