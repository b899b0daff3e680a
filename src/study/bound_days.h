// What no policy can do better than, for each day of a study.
#pragma once

#include <vector>

#include "base/progress.h"
#include "bound/bound.h"
#include "study/run_day.h"

namespace smartmig {

struct DayBound {
  double et = 0;  // Certified, as the next two.
  double energy_j = 0;
  double avg_tardiness_s = 0;
  // The published ones. The tardiness program is for a few dozen jobs, and gets a few seconds: what
  // Cbc has proven of it by then, and whether it is solved; in ET it counts 0 unless it is.
  double linearised_energy_j = 0;
  double linearised_tardiness_s = 0;
  double linearised_et = 0;
  bool program_tried = false;
  bool program_solved = false;
};

// The input of a bound for one day's jobs; points into both arguments.
BoundInput bound_input(const RunSettings& settings, const JobTable& jobs);

// Steps of progress for each day.
constexpr std::size_t kBoundSteps = 100;

// For days 0..days-1; the same on any number of threads. `progress`, if any, counts kBoundSteps for
// each day.
Result<std::vector<DayBound>> bound_days(const RunSettings& settings, std::size_t days,
                                         const DaySource& source, int threads,
                                         Progress* progress = nullptr);

// The mean over days of one of the values, of which there is at least one.
double mean_of(const std::vector<DayBound>& bounds, double DayBound::*of);

// The certified bound of ET alone, by day, from a search of this length; its threads are one for
// each day. The same on any number of threads.
Result<std::vector<double>> certified_ets(const RunSettings& settings, std::size_t days,
                                          const DaySource& source, AscentOptions options,
                                          int threads);

// The published energy bound alone, in joules for each day: quick, where the certified one takes
// seconds.
Result<std::vector<double>> published_energy_bounds(const RunSettings& settings, std::size_t days,
                                                    const DaySource& source, int threads,
                                                    Progress* progress = nullptr);

}  // namespace smartmig
