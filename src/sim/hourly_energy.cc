#include "sim/hourly_energy.h"

#include <algorithm>

namespace smartmig {
namespace {

std::size_t hour_ending(TimeUs at) { return static_cast<std::size_t>((at / kHourUs - 1) % 24); }

}  // namespace

void subtract_by_hour(ByHour& joules, TimeUs begin, TimeUs end, double watts) {
  while (begin < end) {
    const TimeUs hour_ends = (begin / kHourUs + 1) * kHourUs;
    const TimeUs until = std::min(end, hour_ends);
    joules[hour_ending(hour_ends)] -= watts * to_s(until - begin);
    begin = until;
  }
}

void HourlyEnergy::begin(TimeUs now) {
  joules_.fill(0);
  read_j_ = 0;
  next_us_ = (now / kHourUs + 1) * kHourUs;
}

void HourlyEnergy::end_hour(const PowerMeter& power) {
  const double total_j = power.energy_j(next_us_);
  joules_[hour_ending(next_us_)] += total_j - read_j_;
  read_j_ = total_j;
  next_us_ += kHourUs;
}

ByHour HourlyEnergy::joules(const PowerMeter& power, TimeUs end) const {
  ByHour all = joules_;
  all[hour_ending(next_us_)] += power.energy_j(end) - read_j_;
  return all;
}

}  // namespace smartmig
