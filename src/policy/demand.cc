#include "policy/demand.h"

#include <algorithm>
#include <cmath>

#include "workload/generator.h"

namespace smartmig {
namespace {

constexpr double kMemoryMin = 45;
// Until enough was seen: a load of .3 that weighs like the first quarter of an hour.
constexpr double kPriorLoad = 0.3;
constexpr double kPriorWeight = 0.3;
// Jobs that count as seen at the papers' rate before any has come.
constexpr double kPriorJobs = 8;
// Of a job's weight in the mean length at each later arrival.
constexpr double kKept = 1 - 1. / 200;
constexpr double kPapersLnMinutes = 1.2;  // The mean on 1g, of the papers' jobs.
constexpr double kAheadHours = 0.3;
constexpr double kBackHours = 1;

}  // namespace

void Demand::begin(TimeUs now) {
  curve_ = GeneratorOptions().rate_per_minute;
  begin_us_ = last_us_ = busy_since_us_ = now;
  next_ = 0;
  jobs_per_gpu_ = 0;
  work_ = weight_ = 0;
  busy_per_gpu_ = 0;
  ln_minutes_ = ln_weight_ = 0;
}

void Demand::observe(const View& view) {
  const double elapsed = static_cast<double>(view.now() - last_us_) / kMinuteUs;
  const double kept = std::exp(-elapsed / (kMemoryMin * unit()));
  last_us_ = view.now();
  work_ *= kept;
  weight_ = weight_ * kept + (1 - kept);
  gpus_ = view.fleet().gpu_count();
  follow_busy_time(view);
  for (; next_ < view.arrived(); ++next_) {
    jobs_per_gpu_ += 1 / gpus_;
    const auto times = view.believed_times(next_);
    for (int size = 0; size < kSizeCount; ++size) {
      if (times[size] == 0) continue;
      const double minutes = times[size] / kMinuteUs;
      ln_minutes_ = ln_minutes_ * kKept + std::log(std::max(minutes, 1e-6));
      ln_weight_ = ln_weight_ * kKept + 1;
      work_ += minutes * kSizes[size] / (kMemoryMin * unit()) / view.fleet().compute_slices();
      break;
    }
  }
}

void Demand::follow_busy_time(const View& view) {
  const std::size_t came = view.arrived() - next_;
  busy_per_gpu_ += static_cast<double>(came) / gpus_;
  // Those that came at this instant have not waited yet.
  const std::size_t placed = view.running().size() + view.awaiting().size();
  if (view.jobs_in_system() > placed + came) return;
  busy_per_gpu_ = 0;
  busy_since_us_ = view.now();
}

double Demand::load() const {
  return std::log((work_ + kPriorLoad * kPriorWeight) / (weight_ + kPriorWeight));
}

double Demand::unit() const {
  if (ln_weight_ == 0) return 1;
  return std::exp(ln_minutes_ / ln_weight_ - kPapersLnMinutes);
}

double Demand::jobs_a_day(TimeUs now) const {
  const double days = static_cast<double>(now - begin_us_) / kDayUs;
  const double prior = kPriorJobs / gpus_;  // For each GPU.
  return (jobs_per_gpu_ + prior) / (days + prior / kPapersJobsADay);
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
