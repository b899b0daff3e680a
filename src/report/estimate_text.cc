#include "report/estimate_text.h"

#include <fmt/format.h>

#include <cmath>

namespace smartmig {
namespace {

std::string percent(double value) {
  return value == 0 ? std::string("0") : fmt::format("{:+.1f}", value);
}

// "a b", or "a" where there is no b.
std::string two_parts(std::string first, const std::string& second) {
  return second.empty() ? first : first + ' ' + second;
}

}  // namespace

std::string number_text(double value) {
  return std::abs(value) >= 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string interval_text(double scale, const Estimate& estimate) {
  if (!estimate.low95) return "";
  return fmt::format("[{}, {}]", number_text(*estimate.low95 * scale),
                     number_text(*estimate.high95 * scale));
}

std::string with_interval(double scale, const Estimate& estimate) {
  return two_parts(number_text(estimate.mean * scale), interval_text(scale, estimate));
}

std::string change_mean_text(const Change& change) {
  return change.mean ? percent(*change.mean) : "-";
}

std::string change_interval_text(const Change& change) {
  if (!change.mean || !change.low95) return "";
  return fmt::format("[{}, {}]", percent(*change.low95), percent(*change.high95));
}

std::string change_text(const Change& change) {
  return two_parts(change_mean_text(change), change_interval_text(change));
}

std::string distance_text(const Change& change) {
  if (*change.mean == 0) return "equal to";
  const double sign = *change.mean < 0 ? -1 : 1;
  std::string text = fmt::format("{:.1f} %", sign * *change.mean);
  if (change.low95) {
    const double low = sign < 0 ? -*change.high95 : *change.low95;
    const double high = sign < 0 ? -*change.low95 : *change.high95;
    text += fmt::format(" [{:.1f}, {:.1f}]", low, high);
  }
  return text + (sign < 0 ? " below" : " above");
}

std::string cost_head(const std::string& currency) {
  return currency.empty() ? "cost" : "cost, " + currency;
}

}  // namespace smartmig
