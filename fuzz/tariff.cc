#include "study/tariff.h"

#include <cmath>

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const auto tariff = parse_tariff(as_text(data, size), "fuzz");
  check_error(tariff);
  if (!tariff) return 0;
  // Any tariff that is taken gives finite sums.
  ByHour energy_j;
  energy_j.fill(1e15);
  Metrics metrics;
  price(*tariff, energy_j, metrics);
  SM_CHECK(std::isfinite(metrics.cost) && std::isfinite(metrics.co2_kg) && metrics.co2_kg >= 0);
  return 0;
}
