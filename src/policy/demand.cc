#include "policy/demand.h"

#include <cmath>

#include "workload/generator.h"

namespace smartmig {
namespace {

constexpr double kMemoryMin = 45;
// Until enough was seen: a load of .3 that weighs like the first quarter of an hour.
constexpr double kPriorLoad = 0.3;
constexpr double kPriorWeight = 0.3;
constexpr double kPriorDays = 1. / 24;
constexpr double kAheadHours = 0.3;
constexpr double kBackHours = 1;

}  // namespace

void Demand::begin(TimeUs now) {
  curve_ = GeneratorOptions().rate_per_minute;
  begin_us_ = last_us_ = now;
  next_ = 0;
  jobs_per_gpu_ = 0;
  work_ = weight_ = 0;
}

void Demand::observe(const View& view) {
  const double elapsed = static_cast<double>(view.now() - last_us_) / kMinuteUs;
  const double kept = std::exp(-elapsed / kMemoryMin);
  last_us_ = view.now();
  work_ *= kept;
  weight_ = weight_ * kept + (1 - kept);
  const Fleet& fleet = view.fleet();
  for (; next_ < view.arrived(); ++next_) {
    jobs_per_gpu_ += 1. / fleet.gpu_count();
    const auto times = view.believed_times(next_);
    for (int size = 0; size < kSizeCount; ++size) {
      if (times[size] == 0) continue;
      const double minutes = times[size] / kMinuteUs;
      work_ += minutes * kSizes[size] / kMemoryMin / fleet.compute_slices();
      break;
    }
  }
}

double Demand::load() const {
  return std::log((work_ + kPriorLoad * kPriorWeight) / (weight_ + kPriorWeight));
}

double Demand::jobs_a_day(TimeUs now) const {
  const double days = static_cast<double>(now - begin_us_) / kDayUs;
  return (jobs_per_gpu_ + kPapersJobsADay * kPriorDays) / (days + kPriorDays);
}

double Demand::curve_at(double hour) const {
  hour = std::fmod(hour + 24, 24);
  const auto before = static_cast<std::size_t>(hour);
  const double part = hour - static_cast<double>(before);
  return curve_[before] * (1 - part) + curve_[(before + 1) % 24] * part;
}

double Demand::trend(TimeUs now) const {
  const double hour = static_cast<double>(now % kDayUs) / kHourUs;
  return std::log(curve_at(hour + kAheadHours) / curve_at(hour - kBackHours));
}

}  // namespace smartmig
