// The relaxed problem behind the certified bound, as docs/model/bounds.md states it: what every way
// of running a job needs of each board's compute and memory slices and draws in energy, per second.
// All times are seconds from the first submit. This is what the ascent works on; the check
// (bound/check.h) starts from the jobs again.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "fleet/costs.h"
#include "fleet/fleet.h"
#include "fleet/gpu_event.h"

namespace smartmig {

// What is bounded. All of it must outlive what is made from it.
struct BoundInput {
  const Fleet* fleet = nullptr;
  std::span<const Job> jobs;  // In order of submit time, at least one.
  const Costs* costs = nullptr;
  std::span<const GpuEvent> events;  // In order of time.
  std::optional<TraceWindow> trace;  // JobTable::trace.
  double days = 1;                   // JobTable::nominal_days.
  double energy_weight = 2e-7;       // `a` of ET.

  // Times of the bound are seconds from here.
  TimeUs begin_us() const { return trace ? trace->first_submit_us : jobs.front().submit_us; }
  // Before this no schedule makes progress with the job: its process starts after the submit.
  TimeUs released_us(const Job& job) const { return job.submit_us + costs->start_us; }
};

// The value of a run: per_joule * energy + per_late_s * sum of all tardiness.
struct Weights {
  double per_joule = 0;
  double per_late_s = 0;
};

// A kind of slice on which a job runs.
struct RunOption {
  double speed = 0;     // Share of the job's work done in a second.
  double energy_w = 0;  // At least this much above the board's floor.
  // On a trace, after the last submit: at least this much in all, as only boards with a job are
  // sure to be charged then.
  double after_submits_w = 0;
  std::uint8_t board = 0;
  std::uint8_t compute = 0;
  std::uint8_t memory = 0;  // In memory slices.
};

struct RelaxedJob {
  double release_s = 0;  // No progress before: its submit, and the start of its process.
  double deadline_s = 0;
  std::uint32_t first_option = 0;
  std::uint32_t option_count = 0;
};

struct RelaxedProblem {
  std::vector<RelaxedJob> jobs;
  std::vector<RunOption> options;  // Of all jobs, end to end; none that another is as good as.
  // Slices of all GPUs of a board: compute of board b at 2b, memory at 2b + 1.
  std::vector<double> capacity;
  double earliest_end_s = 0;        // No schedule ends before.
  double floor_j = 0;               // What boards are charged at least, whatever runs.
  double last_submit_s = HUGE_VAL;  // From here on RunOption::after_submits_w counts.

  std::span<const RunOption> options_of(const RelaxedJob& job) const {
    return std::span(options).subspan(job.first_option, job.option_count);
  }
};

// Error: a job that no slice of the fleet can run.
Result<RelaxedProblem> relax(const BoundInput& input);

}  // namespace smartmig
