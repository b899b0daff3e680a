// For tests: environments whose episodes are whole days and whose reward is ET, so that what they
// pay is what a simulation of the same day costs.
#pragma once

#include "learn/environments.h"

namespace smartmig {

inline DayPoolOptions one_day(double rate = 20) {
  DayPoolOptions days;
  days.days = 1;
  days.rates = {rate};
  return days;
}

template <class Settings>
Settings plain(Settings settings, std::size_t environments = 1) {
  settings.episodes.stagger = false;
  settings.episodes.environments = environments;
  settings.episodes.reward = {};
  return settings;
}

}  // namespace smartmig
