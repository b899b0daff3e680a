// Energy by hour of day, for tariffs. The meter's running total is read as each hour of the clock
// ends: that costs one reading an hour and nothing at events, and the hours add up to the run's
// energy, whatever boards do between events.
#pragma once

#include <array>

#include "fleet/power.h"

namespace smartmig {

using ByHour = std::array<double, 24>;  // Hour 0 begins at each multiple of 24 h of the clock.

// Takes `watts` from `begin` to `end` off each hour they fall in.
void subtract_by_hour(ByHour& joules, TimeUs begin, TimeUs end, double watts);

class HourlyEnergy {
 public:
  // A run begins, and the meter with it.
  void begin(TimeUs now);
  // Advances the clock to `to`; nothing changes before.
  void pass_time(const PowerMeter& power, TimeUs to) {
    while (next_us_ <= to) end_hour(power);
  }
  // Joules until `end`, a time at or after which the last hour that was passed ended.
  ByHour joules(const PowerMeter& power, TimeUs end) const;

 private:
  void end_hour(const PowerMeter& power);

  ByHour joules_{};
  double read_j_ = 0;   // The meter's total when the present hour began.
  TimeUs next_us_ = 0;  // When it ends.
};

}  // namespace smartmig
