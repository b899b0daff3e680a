// A second, slow and obvious implementation of docs/model/semantics.md, to hold the engine against.
// It shares only base/, mig/ and workload/ with the engine, recomputes everything at every instant,
// and prefers plain loops over all jobs and slices to any data structure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mig/board.h"
#include "mig/layout.h"
#include "workload/catalogue.h"
#include "workload/job.h"

namespace smartmig::reference {

enum class Preemption { kFree, kCheckpoint, kNone };

struct Costs {
  bool timed_operations = false;     // `real`: create and destroy take the board's times.
  TimeUs deadline_cut_us = 0;        // `paper`: 4 s.
  TimeUs start_us = 0;               // From the start of a process until it makes progress.
  TimeUs checkpoint_us[2] = {0, 0};  // By JobKind, where the job's column says nothing.
  TimeUs restore_us[2] = {0, 0};
  bool job_columns =
      false;  // `real`: the job's own checkpoint_ms and restore_ms count; else both are 0.
  bool real_power = false;  // Idle levels and boards measured job by job.
};

struct GpuEvent {
  TimeUs at_us = 0;
  int gpu = 0;
  bool fail = true;  // false: return
};

// The words of `on-demand`.
struct OnDemandWords {
  std::string request;       // asked, on-time, by-profile
  std::map<int, int> sizes;  // by-profile: compute size by index of the speed profile.
  std::string fit = "room";  // room, first, pack, spread
  bool strict = false;
  bool keep = false;
};

struct Setup {
  std::vector<const Board*> gpus;
  const JobTable* jobs = nullptr;
  std::string partitioner;  // none, static, day-night, count, greedy, on-demand, miso
  std::string placer;       // "" with the last three
  // static: layouts[0], one for each GPU; day-night: layouts[k] from times_us[k] of the day on.
  std::vector<std::vector<std::string>> layouts;
  std::vector<TimeUs> times_us;
  OnDemandWords on_demand;
  TimeUs profile_us = 0;  // miso
  Preemption preemption = Preemption::kFree;
  Costs costs;
  std::vector<GpuEvent> events;
  double energy_weight = 2e-7;
  double estimate_sigma = 0;
  std::uint64_t seed =
      1;                // Streams: Random(seed, "random placer"), Random(seed, "estimate error").
  bool sum_up = false;  // Fill Outcome::sums.
};

// "What is summed up", at the end of an instant.
struct Sums {
  TimeUs at_us = 0;
  std::array<std::array<int, 10>, 4> bins{};  // Time to deadline, small, medium, large.
  // GPUs that are up, by board and layout; "7" of "A100-40GB".
  std::map<std::pair<std::string, std::string>, int> layouts;
  TimeUs tardiness_us = 0;
};

struct Outcome {
  std::vector<TimeUs>
      finish_us;  // One for each job; -1: never finished (nothing left that could happen).
  std::vector<TimeUs> deadline_us;  // After what the costs took off.
  double energy_j = 0;
  long events = 0;
  long repartitions = 0;
  long preemptions = 0;
  std::vector<Sums> sums;  // One for each instant.
};

Outcome run(const Setup& setup);

}  // namespace smartmig::reference
