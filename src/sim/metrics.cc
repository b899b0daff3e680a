#include "sim/metrics.h"

#include <algorithm>
#include <cmath>

namespace smartmig {

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

namespace {

void measure_waits(const Engine& engine, Metrics& metrics) {
  if (engine.first_start_us().empty()) return;
  std::vector<double> waits_s;
  waits_s.reserve(engine.jobs().jobs.size());
  for (JobIndex job = 0; job < engine.jobs().jobs.size(); ++job)
    waits_s.push_back(to_s(engine.first_start_us()[job] - engine.jobs().jobs[job].submit_us));
  std::sort(waits_s.begin(), waits_s.end());
  metrics.p99_wait_s = quantile(waits_s, 0.99);
  metrics.worst_wait_s = waits_s.back();
}

}  // namespace

Metrics measure(const Engine& engine, double energy_weight) {
  const State& state = engine.state();
  const std::size_t jobs = engine.jobs().jobs.size();
  Metrics metrics;
  metrics.jobs = jobs;
  metrics.energy_j = engine.energy_j();
  metrics.energy_wmin = metrics.energy_j / kJoulesPerWattMinute;
  metrics.energy_per_job_j = metrics.energy_j / static_cast<double>(jobs);
  std::vector<double> late_s;
  late_s.reserve(jobs);
  TimeUs sum_us = 0;
  std::size_t late = 0;
  for (JobIndex job = 0; job < jobs; ++job) {
    const TimeUs by =
        std::max<TimeUs>(0, engine.finish_us()[job] - state.job_state(job).deadline_us);
    sum_us += by;
    late += by > 0;
    late_s.push_back(to_s(by));
  }
  std::sort(late_s.begin(), late_s.end());
  metrics.avg_tardiness_s = to_s(sum_us) / static_cast<double>(jobs);
  metrics.median_tardiness_s = quantile(late_s, 0.5);
  metrics.p95_tardiness_s = quantile(late_s, 0.95);
  metrics.p99_tardiness_s = quantile(late_s, 0.99);
  metrics.late_pct = 100.0 * static_cast<double>(late) / static_cast<double>(jobs);
  measure_waits(engine, metrics);
  metrics.et = weigh(metrics.energy_j, metrics.avg_tardiness_s, energy_weight,
                     state.fleet().gpu_count(), engine.jobs().nominal_days);
  if (engine.jobs().trace) metrics.span_s = to_s(engine.jobs().trace->span_us());
  metrics.makespan_s = to_s(engine.end_us() - engine.begin_us());
  metrics.events = engine.events();
  metrics.repartitions = engine.repartitions();
  metrics.preemptions = state.preemptions();
  if (engine.layout_times()) metrics.layouts_pct = engine.layout_times()->percent(engine.end_us());
  metrics.turns = engine.policy().partitioner->turn_counts();
  return metrics;
}

}  // namespace smartmig
