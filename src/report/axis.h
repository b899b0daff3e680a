// An axis of a chart: which values it spans, where they stand, and which of them are named.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace smartmig {

struct Tick {
  double value = 0;
  std::string label;
};

struct Axis {
  std::string label;                          // With its unit: "tardiness, min".
  bool log = false;                           // Values at or below 0 then stand at the low end.
  std::optional<double> low = {}, high = {};  // Else what the values span, to round numbers.
  std::vector<Tick> ticks = {};               // Else round numbers.
};

// Places values between two coordinates. Made from an Axis and the values it must show.
class Scale {
 public:
  Scale(const Axis& axis, const std::vector<double>& values, double from, double to);

  double operator()(double value) const;  // Clamped to the axis.
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void make_linear_ticks(bool fixed_low, bool fixed_high);
  void make_log_ticks(bool fixed_low, bool fixed_high);

  bool log_;
  double low_ = 0, high_ = 1;
  double from_, to_;
  std::vector<Tick> ticks_;
};

// A number as a reader wants it: four significant digits, thousands set apart by commas.
std::string readable(double value);

}  // namespace smartmig
