#include "base/quantity.h"

#include <cmath>
#include <optional>

#include "base/text.h"
#include "base/units.h"

namespace smartmig {
namespace {

constexpr double kMaxMib = 1 << 30;  // A PiB.

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 12 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "12", "1.5": digits with at most one point, no sign and no exponent.
std::optional<double> plain_number(std::string_view text) {
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  return parse_number(text);
}

// A part of Slurm's form; `most` is the largest value it may have.
std::optional<double> clock_part(std::string_view text, double most) {
  if (!is_digits(text)) return std::nullopt;
  const double value = *parse_number(text);
  return value <= most ? std::optional(value) : std::nullopt;
}

std::optional<double> slurm_form(std::string_view text) {
  constexpr double kAny = 1e12;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  double total = 0;
  if (has_days) {
    const auto days = clock_part(text.substr(0, dash), kAny);
    if (!days) return std::nullopt;
    total = *days * 86400;
    text = text.substr(dash + 1);
  }
  const auto parts = split(text, ':');
  if (parts.size() > 3 || (!has_days && parts.size() < 2)) return std::nullopt;
  // With days the first part is hours; without, two parts are minutes and seconds.
  double unit = has_days || parts.size() == 3 ? 3600 : 60;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double most = i > 0 ? 59 : has_days ? 23 : kAny;
    const auto value = clock_part(parts[i], most);
    if (!value) return std::nullopt;
    total += *value * unit;
    unit /= 60;
  }
  return total;
}

std::optional<double> with_units(std::string_view text) {
  constexpr std::string_view kUnits = "dhms";
  constexpr double kSeconds[] = {86400, 3600, 60, 1};
  std::size_t next = 0;  // Units before this one have been used.
  double total = 0;
  while (!text.empty()) {
    const std::size_t end = text.find_first_not_of("0123456789.");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::size_t unit = kUnits.find(text[end]);
    const auto value = plain_number(text.substr(0, end));
    if (unit == std::string_view::npos || unit < next || !value) return std::nullopt;
    total += *value * kSeconds[unit];
    next = unit + 1;
    text = text.substr(end + 1);
  }
  return total;
}

}  // namespace

Result<double> parse_duration_s(std::string_view text) {
  std::optional<double> seconds;
  // A number may have an exponent, as in 1e-3; it has no sign, and is neither inf nor nan.
  if (!text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9')))
    seconds = parse_number(text);
  if (!seconds && text.find_first_of("-:") != std::string_view::npos) seconds = slurm_form(text);
  if (!seconds && text.find_first_of("dhms") != std::string_view::npos) seconds = with_units(text);
  if (!seconds || *seconds > kMaxSeconds)
    return fail("found {}, expected a length of time such as 90s, 10m, 2h, 1-02:00:00 or seconds",
                in_quotes(text));
  return *seconds;
}

Result<std::int64_t> parse_size_mib(std::string_view text) {
  const auto wrong = [&] {
    return fail("found {}, expected a size such as 8G, 512M or a number of MiB", in_quotes(text));
  };
  std::string_view number = text;
  double mib = 1;
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end != std::string_view::npos) {
    number = text.substr(0, end);
    const std::string_view suffix = text.substr(end + 1);
    if (!suffix.empty() && suffix != "B" && suffix != "iB") return wrong();
    switch (text[end]) {
      case 'K':
        mib = 1.0 / 1024;
        break;
      case 'M':
        break;
      case 'G':
        mib = 1024;
        break;
      case 'T':
        mib = 1024 * 1024;
        break;
      default:
        return wrong();
    }
  }
  const auto value = number.empty() ? std::nullopt : plain_number(number);
  if (!value || *value * mib > kMaxMib) return wrong();
  return static_cast<std::int64_t>(std::ceil(*value * mib));
}

}  // namespace smartmig
