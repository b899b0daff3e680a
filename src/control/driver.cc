#include "control/driver.h"

#include <array>

namespace smartmig {
namespace {

constexpr std::array<std::string_view, 11> kCodeNames = {"in-use",        "insufficient-resources",
                                                         "no-permission", "not-found",
                                                         "not-supported", "gpu-lost",
                                                         "timeout",       "unreachable",
                                                         "superseded",    "already-ran",
                                                         "unknown"};

}  // namespace

std::string_view to_string(DriverCode code) { return kCodeNames[static_cast<std::size_t>(code)]; }

DriverCode driver_code(std::string_view name) {
  for (std::size_t i = 0; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i] == name) return static_cast<DriverCode>(i);
  }
  return DriverCode::kUnknown;
}

DriverResult<std::vector<GpuReading>> Driver::read_all(GpuIndex count) {
  std::vector<GpuReading> readings;
  readings.reserve(count);
  for (GpuIndex gpu = 0; gpu < count; ++gpu) {
    auto reading = read(gpu);
    if (!reading) return tl::unexpected(reading.error());
    readings.push_back(std::move(*reading));
  }
  return readings;
}

}  // namespace smartmig
