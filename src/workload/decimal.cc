#include "workload/decimal.h"

#include <fmt/format.h>

#include "base/text.h"

namespace smartmig {
namespace {

constexpr TimeUs kMaxUs = static_cast<TimeUs>(kMaxSeconds) * kSecondUs;
constexpr TimeUs kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
constexpr std::size_t kFastDigits = 16;  // Any 17 digits fit an int64; kMaxUs has 17.

std::optional<TimeUs> parse_slowly(std::string_view text) {
  const auto seconds = parse_number(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kMaxSeconds)) return std::nullopt;
  return to_us(*seconds);
}

}  // namespace

std::optional<TimeUs> parse_seconds(std::string_view text) {
  if (text.empty() || text.size() > kFastDigits + 1) return parse_slowly(text);
  TimeUs digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i]) - '0';
    if (digit < 10) {
      digits = digits * 10 + digit;
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return parse_slowly(text);
    }
  }
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  // "5." and ".5" are numbers to some and not to others: let the standard decide.
  if (decimals > 6 || point == 0 || point + 1 == text.size()) return parse_slowly(text);
  const TimeUs power = kPowers[6 - decimals];
  if (digits > kMaxUs / power) return std::nullopt;
  return digits * power;
}

void append_seconds(std::string& out, TimeUs us) {
  const fmt::format_int whole(us / kSecondUs);
  out.append(whole.data(), whole.size());
  TimeUs rest = us % kSecondUs;
  if (rest == 0) return;
  char digits[7] = {'.'};
  for (int i = 6; i >= 1; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  std::string_view fraction(digits, 7);
  out.append(fraction.substr(0, fraction.find_last_not_of('0') + 1));
}

}  // namespace smartmig
