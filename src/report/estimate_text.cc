#include "report/estimate_text.h"

#include <fmt/format.h>

namespace smartmig {

std::string with_interval(double scale, const Estimate& estimate) {
  if (!estimate.low95) return fmt::format("{:.4g}", estimate.mean * scale);
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", estimate.mean * scale, *estimate.low95 * scale,
                     *estimate.high95 * scale);
}

std::string change_text(const Change& change) {
  const auto percent = [](double value) {
    return value == 0 ? std::string("0") : fmt::format("{:+.1f}", value);
  };
  if (!change.mean) return "-";
  if (!change.low95) return percent(*change.mean);
  return fmt::format("{} [{}, {}]", percent(*change.mean), percent(*change.low95),
                     percent(*change.high95));
}

}  // namespace smartmig
