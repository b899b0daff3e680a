// What a kilowatt-hour costs, and emits, by hour of day: a CSV file
// `hour,price_per_kwh[,g_co2_per_kwh][,currency]` with a row for each hour
// (docs/formats/tariff.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/hourly_energy.h"
#include "sim/metrics.h"

namespace smartmig {

struct Tariff {
  ByHour price_per_kwh{};  // In whatever money the file is in; may be below 0.
  std::optional<ByHour> g_co2_per_kwh;
  std::string currency;  // "EUR"; "" where the file does not say.
};

// Every error names file, line and column.
Result<Tariff> parse_tariff(std::string_view text, const std::string& name);
Result<Tariff> read_tariff(const std::string& path);

// Sets cost and carbon from the energy of each hour.
void price(const Tariff& tariff, const ByHour& energy_j, Metrics& metrics);

}  // namespace smartmig
