#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

// 1, 2 or 5 times a power of ten, the least that makes at most `most` steps of the span.
double round_step(double span, int most) {
  const double rough = span / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string readable(double value) {
  if (value == 0) return "0";
  std::string text = fmt::format("{:.4g}", value);
  if (text.find('e') != std::string::npos) {
    if (std::abs(value) >= 1e15 || std::abs(value) < 1e-4) return text;
    text = fmt::format("{:.0f}", value);
  }
  const std::size_t whole_end = std::min(text.find('.'), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_digit = i > 0 && i < whole_end && text[i - 1] != '-';
    if (after_digit && (whole_end - i) % 3 == 0) out += ',';
    out += text[i];
  }
  return out;
}

Scale::Scale(const Axis& axis, const std::vector<double>& values, double from, double to)
    : log_(axis.log), from_(from), to_(to) {
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value) || (log_ && value <= 0)) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (!any) low_ = log_ ? 1 : 0, high_ = log_ ? 10 : 1;
  if (axis.low) low_ = *axis.low;
  if (axis.high) high_ = *axis.high;
  if (high_ <= low_) {
    high_ = log_ ? low_ * 10 : low_ + (low_ == 0 ? 1 : std::abs(low_) * 0.1);
    if (!log_ && !axis.low) low_ -= std::abs(low_) * 0.1;
  }
  if (!axis.ticks.empty()) {
    for (const Tick& tick : axis.ticks) {
      if (tick.value >= low_ && tick.value <= high_) ticks_.push_back(tick);
    }
  } else if (log_) {
    make_log_ticks(axis.low.has_value(), axis.high.has_value());
  } else {
    make_linear_ticks(axis.low.has_value(), axis.high.has_value());
  }
}

void Scale::make_linear_ticks(bool fixed_low, bool fixed_high) {
  const double step = round_step(high_ - low_, 5);
  if (!fixed_low) low_ = std::floor(low_ / step + 1e-9) * step;
  if (!fixed_high) high_ = std::ceil(high_ / step - 1e-9) * step;
  const auto first = static_cast<long>(std::ceil(low_ / step - 1e-9));
  const auto last = static_cast<long>(std::floor(high_ / step + 1e-9));
  for (long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    ticks_.push_back({value, readable(value)});
  }
}

void Scale::make_log_ticks(bool fixed_low, bool fixed_high) {
  // To 1, 2 or 5 times a power of ten, so that no value stands on the frame.
  const auto rounded = [](double value, bool up) {
    const double power = std::pow(10, std::floor(std::log10(value)));
    double best = up ? 10 * power : power;
    for (const double factor : {1., 2., 5.}) {
      if (!up && factor * power < value * (1 - 1e-9)) best = factor * power;
      if (up && factor * power > value * (1 + 1e-9)) return factor * power;
    }
    return best;
  };
  if (!fixed_low) low_ = rounded(low_, false);
  if (!fixed_high) high_ = rounded(high_, true);
  const double decades = std::log10(high_ / low_);
  const bool between = decades <= 3.2;  // Room for 2 and 5 between the powers of ten.
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 6)));
  for (int power = first; power <= last; power += every) {
    for (const double factor : {1., 2., 5.}) {
      if (factor > 1 && !between) break;
      const double value = factor * std::pow(10, power);
      if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
        ticks_.push_back({value, readable(value)});
    }
  }
}

double Scale::operator()(double value) const {
  double share = 0;
  if (log_) {
    share = value <= low_ ? 0 : std::log(value / low_) / std::log(high_ / low_);
  } else {
    share = (value - low_) / (high_ - low_);
  }
  return from_ + std::clamp(share, 0., 1.) * (to_ - from_);
}

}  // namespace smartmig
