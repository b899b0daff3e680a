#include "workload/described.h"

#include <algorithm>
#include <cmath>

#include "workload/profile_pool.h"

namespace smartmig {
namespace {

constexpr double kHour = static_cast<double>(kHourUs);

// A Poisson process whose rate is that of the hour, exactly: a gap ends when the rate, summed over
// time, has reached an exponential draw.
class HourlyArrivals {
 public:
  HourlyArrivals(const ArrivalLaw& law, double batches_per_hour, double begin_us, Random random)
      : law_(law), batches_per_hour_(batches_per_hour), now_us_(begin_us), random_(random) {}

  double next_us() {
    for (double left = random_.exponential(1);;) {
      const double hour = std::floor(now_us_ / kHour);
      const double per_us = rate_at(hour) / kHour;
      const double until_us = (hour + 1) * kHour;
      if (per_us * (until_us - now_us_) >= left) return now_us_ += left / per_us;
      left -= per_us * (until_us - now_us_);
      now_us_ = until_us;
    }
  }

  // Geometric, at least 1.
  int batch() {
    if (law_.batch_mean <= 1) return 1;
    const double u = random_.uniform();
    return 1 + static_cast<int>(std::log1p(-u) / std::log1p(-1 / law_.batch_mean));
  }

 private:
  double rate_at(double hour) const {
    const auto of_day = static_cast<std::size_t>(static_cast<std::int64_t>(hour) % 24);
    return law_.by_hour[of_day] * batches_per_hour_;
  }

  const ArrivalLaw& law_;
  double batches_per_hour_;
  double now_us_;
  Random random_;
};

// Midnight for a whole day; a shorter window starts at an hour of its own.
double begin_hour(const DescribedWorkload& workload, const DayDraw& draw) {
  const bool whole = workload.hours >= 24 &&
                     draw.jobs_per_hour * workload.hours <= static_cast<double>(workload.max_jobs);
  if (whole) return 0;
  return static_cast<double>(Random(draw.seed, "described-hour", draw.day).below(24));
}

// The jobs of one day, apart from when they arrive.
class JobDraws {
 public:
  JobDraws(const DescribedWorkload& workload, const DayDraw& draw, const ProfilePool& pool)
      : workload_(workload),
        pool_(pool),
        largest_size_(draw.largest_size),
        kinds_(draw.seed, "described-kinds", draw.day),
        profiles_(draw.seed, "described-profiles", draw.day),
        sizes_(draw.seed, "described-sizes", draw.day),
        stops_(draw.seed, "described-stops", draw.day),
        deadlines_(draw.seed, "described-deadlines", draw.day) {}

  Job next(TimeUs submit_us) {
    Job job;
    job.submit_us = submit_us;
    const bool training = kinds_.uniform() < workload_.training_share;
    job.kind = training ? JobKind::kTraining : JobKind::kInference;
    job.profile = pool_.draw(job.kind, largest_size_, profiles_);
    const auto speed = pool_.speed(job.profile);
    const double size_s = mean_size_s(workload_.sizes, job.kind, workload_.training_share) *
                          draw_relative_size(workload_.sizes, sizes_);
    for (std::size_t i = 0; i < speed.size(); ++i) {
      if (speed[i] == 0) continue;
      const double time_s = std::min(size_s * speed.back() / speed[i], kMaxSeconds);
      job.time_us[i] = std::max<TimeUs>(1, to_us(time_s));
    }
    const bool stops = stops_.uniform() < workload_.stoppable_share;
    job.preemptible = training && stops ? Preemptible::kYes : Preemptible::kNo;
    job.deadline_us = draw_deadline(workload_.deadlines, job, deadlines_);
    return job;
  }

 private:
  const DescribedWorkload& workload_;
  const ProfilePool& pool_;
  int largest_size_;
  // A stream for each thing, so that a change of one field leaves every other draw as it was.
  Random kinds_, profiles_, sizes_, stops_, deadlines_;
};

ProfilePool pool_of(const DescribedWorkload& workload) {
  auto pool = ProfilePool::parse(workload.speeds);
  SM_CHECK(pool.has_value());
  return std::move(*pool);
}

}  // namespace

std::vector<JobType> job_types(const DescribedWorkload& workload, int largest_size) {
  const ProfilePool pool = pool_of(workload);
  std::vector<JobType> types;
  for (const JobKind kind : {JobKind::kInference, JobKind::kTraining}) {
    const double share =
        kind == JobKind::kTraining ? workload.training_share : 1 - workload.training_share;
    if (share == 0) continue;
    const double mean_s = mean_size_s(workload.sizes, kind, workload.training_share);
    for (const ProfilePool::Share& drawn : pool.shares(kind, largest_size)) {
      JobType& type = types.emplace_back();
      type.share = share * drawn.share;
      const auto speed = pool.speed(drawn.profile);
      for (std::size_t i = 0; i < speed.size(); ++i)
        if (speed[i] > 0) type.mean_s[i] = mean_s * speed.back() / speed[i];
    }
  }
  return types;
}

JobTable generate_described(const DescribedWorkload& workload, const DayDraw& draw) {
  SM_CHECK(draw.jobs_per_hour > 0 && workload.max_jobs > 0);
  const ProfilePool pool = pool_of(workload);
  const double begin_us = begin_hour(workload, draw) * kHour;
  const double end_us = begin_us + workload.hours * kHour;
  HourlyArrivals arrivals(workload.arrivals, draw.jobs_per_hour / workload.arrivals.batch_mean,
                          begin_us, Random(draw.seed, "described-arrivals", draw.day));
  JobDraws draws(workload, draw, pool);
  const auto most = static_cast<std::size_t>(workload.max_jobs);

  JobTable table;
  TraceWindow window = {std::llround(begin_us), std::llround(end_us)};
  while (table.jobs.size() < most) {
    const double at_us = arrivals.next_us();
    // There is at least one job: a day in which none arrives lasts until its first.
    if (at_us > end_us && !table.jobs.empty()) break;
    const int batch = arrivals.batch();
    for (int i = 0; i < batch && table.jobs.size() < most; ++i)
      table.jobs.push_back(draws.next(std::llround(at_us)));
  }
  const TimeUs last_us = table.jobs.back().submit_us;
  if (table.jobs.size() == most || last_us > window.last_submit_us) window.last_submit_us = last_us;
  table.trace = window;
  table.nominal_days = static_cast<double>(window.span_us()) / static_cast<double>(kDayUs);
  return table;
}

}  // namespace smartmig
