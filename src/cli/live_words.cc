#include "cli/live_words.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace smartmig {

std::string watts_in_words(double watts) {
  if (std::abs(watts) < 1e4) return fmt::format("{:.0f} W", watts);
  if (std::abs(watts) < 1e6) return fmt::format("{:.1f} kW", watts / 1e3);
  return fmt::format("{:.2f} MW", watts / 1e6);
}

std::string energy_in_words(double joules) {
  const double wh = joules / 3600;
  if (wh < 1e3) return fmt::format("{:.0f} Wh", wh);
  if (wh < 1e6) return fmt::format("{:.1f} kWh", wh / 1e3);
  return fmt::format("{:.2f} MWh", wh / 1e6);
}

std::string clock_in_words(double seconds) {
  const auto all = static_cast<long long>(std::llround(std::abs(seconds)));
  const char* sign = seconds < 0 && all > 0 ? "-" : "";
  const long long days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60;
  if (days > 0) return fmt::format("{}{}-{:02}:{:02}:{:02}", sign, days, hours, minutes, all % 60);
  if (hours > 0) return fmt::format("{}{}:{:02}:{:02}", sign, hours, minutes, all % 60);
  return fmt::format("{}{}:{:02}", sign, minutes, all % 60);
}

std::string modelled_alarm(const nlohmann::json& fleet) {
  const auto modelled = fleet.find("modelled");
  if (modelled == fleet.end() || !modelled->is_object()) return {};
  const auto day = modelled->find("last_day");
  if (day == modelled->end() || !day->is_object() || !day->value("modelled_is_better", false))
    return {};
  return fmt::format(
      "over the last day the modelled policy {} was better than {}: ET {:.3g} against {:.3g}",
      modelled->value("policy", ""), fleet.value("policy", ""), day->value("et", 0.0),
      day->value("own_et", 0.0));
}

}  // namespace smartmig
