#include "workload/stats.h"

#include <algorithm>
#include <cmath>

#include "mig/board.h"
#include "workload/fill.h"
#include "workload/sublinearity.h"

namespace smartmig {
namespace {

// Memory of the base slices that job tables are written for.
std::array<std::int32_t, kSizeCount> slice_memory_mib() {
  const auto board = BoardTable::shipped().find("A100-40GB");
  SM_CHECK(board.has_value());
  std::array<std::int32_t, kSizeCount> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const int profile = (*board)->base_profile(kSizes[i]);
    SM_CHECK(profile >= 0);
    memory[i] = (*board)->profiles[static_cast<std::size_t>(profile)].memory_mib;
  }
  return memory;
}

double span_between(TimeUs first, TimeUs last) { return to_s(last - first); }

}  // namespace

Percentiles percentiles(std::vector<double> values) {
  Percentiles p;
  p.count = values.size();
  if (values.empty()) return p;
  std::ranges::sort(values);
  for (const double value : values) p.mean += value / static_cast<double>(values.size());
  const auto at = [&](double share) {
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], rank - static_cast<double>(below));
  };
  p.min = values.front();
  p.p5 = at(.05);
  p.p25 = at(.25);
  p.p50 = at(.5);
  p.p75 = at(.75);
  p.p95 = at(.95);
  p.p99 = at(.99);
  p.max = values.back();
  return p;
}

WorkloadStats measure(const JobTable& table) {
  WorkloadStats stats;
  stats.jobs = table.jobs.size();
  if (table.jobs.empty()) return stats;
  const auto memory = slice_memory_mib();
  std::vector<double> times, gaps, slacks;
  times.reserve(stats.jobs);
  gaps.reserve(stats.jobs);
  slacks.reserve(stats.jobs);
  double work_s = 0;
  double scores = 0;
  std::size_t scored = 0;
  TimeUs before = table.jobs.front().submit_us;
  for (const Job& job : table.jobs) {
    stats.training += job.kind == JobKind::kTraining;
    if (const auto score = sublinearity(job)) scores += *score, ++scored;
    const TimeUs time = time_on_largest(job);
    times.push_back(to_s(time));
    work_s += to_s(time);
    if (&job != &table.jobs.front()) gaps.push_back(to_s(job.submit_us - before));
    before = job.submit_us;
    slacks.push_back(to_s(job.deadline_us - job.submit_us - time));
    stats.by_hour[static_cast<std::size_t>(job.submit_us / kHourUs % 24)] +=
        24.0 / static_cast<double>(stats.jobs);
    std::size_t runs = kSizeCount, on_time = kSizeCount;
    for (std::size_t i = kSizeCount; i-- > 0;) {
      if (job.time_us[i] == 0 || job.memory_mib > memory[i]) continue;
      runs = i;
      if (job.submit_us + job.time_us[i] <= job.deadline_us) on_time = i;
    }
    ++stats.smallest_that_runs[runs];
    ++stats.smallest_on_time[on_time];
  }
  if (scored > 0) stats.sublinearity = scores / static_cast<double>(scored);
  stats.first_submit_s = to_s(table.jobs.front().submit_us);
  stats.span_s = span_between(table.jobs.front().submit_us, table.jobs.back().submit_us);
  stats.time_7g_s = percentiles(std::move(times));
  stats.interarrival_s = percentiles(std::move(gaps));
  stats.slack_s = percentiles(std::move(slacks));
  if (stats.span_s > 0) stats.load_gpus = work_s / stats.span_s;
  return stats;
}

RequestStats measure(const Trace& trace) {
  RequestStats stats;
  stats.jobs = trace.jobs.size();
  if (trace.jobs.empty()) return stats;
  std::vector<double> durations;
  durations.reserve(stats.jobs);
  double work_s = 0;
  for (const TraceJob& job : trace.jobs) {
    durations.push_back(to_s(job.duration_us));
    work_s += to_s(job.duration_us) * job.gpu_fraction * job.gpu_count;
    if (job.gpu_count > 1) {
      ++stats.several;
    } else if (job.gpu_fraction == 1) {
      ++stats.whole;
    } else {
      const int size = size_of_request(job.gpu_fraction);
      // A 7g is the whole GPU: no slice holds this share and leaves room for others.
      ++stats.fractional[kSizes[size] == 7 ? kSizeCount : static_cast<std::size_t>(size)];
    }
  }
  const double span = span_between(trace.jobs.front().submit_us, trace.jobs.back().submit_us);
  if (span > 0) stats.load_gpus = work_s / span;
  stats.duration_s = percentiles(std::move(durations));
  return stats;
}

}  // namespace smartmig
