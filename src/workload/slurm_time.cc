#include "workload/slurm_time.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "workload/decimal.h"

namespace smartmig {
namespace {

// Digits only, in [0, high].
std::optional<std::int64_t> field(std::string_view text, std::int64_t high) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const auto value = parse_integer(text);
  if (!value || *value > high) return std::nullopt;
  return value;
}

std::optional<TimeUs> parse_clock(std::string_view text, std::int64_t max_hours) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  const bool short_form = parts.size() == 2;
  const auto hours = short_form ? std::optional<std::int64_t>(0) : field(parts[0], max_hours);
  const auto minutes = field(parts[parts.size() - 2], 59);
  const auto seconds = parse_seconds(parts.back());
  if (!hours || !minutes || !seconds || *seconds > 60 * kSecondUs) return std::nullopt;
  return *hours * kHourUs + *minutes * kMinuteUs + *seconds;
}

}  // namespace

std::optional<TimeUs> parse_slurm_date(std::string_view text) {
  const std::size_t t = text.find('T');
  if (t == std::string_view::npos) {
    const auto epoch = field(text, 7'258'118'400);  // 2200-01-01.
    if (!epoch) return std::nullopt;
    return *epoch * kSecondUs;
  }
  const auto date = split(text.substr(0, t), '-');
  if (date.size() != 3) return std::nullopt;
  const auto year = field(date[0], 2200);
  const auto month = field(date[1], 12);
  const auto day = field(date[2], 31);
  const auto clock = parse_clock(text.substr(t + 1), 23);
  if (!year || *year < 1970 || !month || !day || !clock) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(static_cast<int>(*year)),
                                        std::chrono::month(static_cast<unsigned>(*month)),
                                        std::chrono::day(static_cast<unsigned>(*day))};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count() * kDayUs + *clock;
}

std::optional<TimeUs> parse_slurm_elapsed(std::string_view text) {
  TimeUs days_us = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = field(text.substr(0, dash), 100'000);
    if (!days) return std::nullopt;
    days_us = *days * kDayUs;
    text.remove_prefix(dash + 1);
  }
  const auto clock = parse_clock(text, dash == std::string_view::npos ? 1'000'000 : 23);
  if (!clock) return std::nullopt;
  return days_us + *clock;
}

bool is_slurm_none(std::string_view text) {
  return text.empty() || text == "Unknown" || text == "None" || text == "N/A" || text == "INVALID";
}

}  // namespace smartmig
