#include "sim/hourly_energy.h"

namespace smartmig {
namespace {

std::size_t hour_ending(TimeUs at) { return static_cast<std::size_t>((at / kHourUs - 1) % 24); }

}  // namespace

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
