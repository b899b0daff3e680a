// Exact energy: the integral of every board's power. Boards whose power depends on the number of
// busy compute slices only are kept as whole microseconds spent at each level, so that a sum over
// ten million jobs loses nothing.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "fleet/costs.h"
#include "fleet/fleet.h"

namespace smartmig {

// A board without a job at constant power.
struct IdlePiece {
  GpuIndex gpu = 0;
  TimeUs begin_us = 0;
  TimeUs end_us = 0;
  double watts = 0;
};

class PowerMeter {
 public:
  PowerMeter(const Fleet& fleet, const Costs& costs, std::size_t jobs_to_attribute);

  // As new; each job's share has room for this many.
  void restart(std::size_t jobs_to_attribute);
  // From here on every board that is up draws power. `for_tails`: keep what idle_tails() needs of
  // boards that fail and return.
  void begin(TimeUs now, bool for_tails = false);
  // The slice's job draws power from now on, or no longer. Where starting_ is kept, its process
  // starts first.
  void job_on(TimeUs now, SliceId slice, KindIndex kind, JobIndex index, const Job& job) {
    Gpu& gpu = gpus_[fleet_->gpu_of(slice)];
    if (gpu.since_us != now) account(now, fleet_->gpu_of(slice));
    gpu.lingers = true;
    if (!starting_.empty()) return add_start(now, slice, kind, index, job);
    gpu.busy = static_cast<std::uint8_t>(gpu.busy + fleet_->kinds()[kind].compute);
    if (tells_jobs_apart()) track_on(slice, kind, index, job);
  }
  void job_off(TimeUs now, SliceId slice, KindIndex kind) {
    Gpu& gpu = gpus_[fleet_->gpu_of(slice)];
    if (gpu.since_us != now) account(now, fleet_->gpu_of(slice));
    if (!starting_.empty() && drop_start(slice)) return;
    gpu.busy = static_cast<std::uint8_t>(gpu.busy - fleet_->kinds()[kind].compute);
    if (!running_.empty()) track_off(slice);
  }
  // Whether anything depends on which job a busy slice has; else another job there is no change.
  bool tells_jobs_apart() const { return !running_.empty() || !starting_.empty(); }
  void job_change(TimeUs now, SliceId slice, KindIndex kind, JobIndex index, const Job& job) {
    job_off(now, slice, kind);
    job_on(now, slice, kind, index, job);
  }
  void board_down(TimeUs now, GpuIndex gpu);
  void board_up(TimeUs now, GpuIndex gpu);

  // The energy drawn by all boards since begin(). O(GPUs); allocates nothing.
  double energy_j(TimeUs now) const;
  // What boards without a job drew up to `now`, each from the later of `from` and the moment its
  // last job left it: on a trace this is not charged. Pieces of constant power, by GPU and time.
  // After begin() with `for_tails` only.
  std::vector<IdlePiece> idle_tails(TimeUs from, TimeUs now) const;
  // Compute slices with a job, those whose process still starts among them.
  int busy(GpuIndex gpu) const { return gpus_[gpu].busy + gpus_[gpu].starting; }
  // What the board draws at a time not before its last change, if nothing changes until then.
  double watts_at(GpuIndex gpu, TimeUs time) const;
  // What it will draw once every process on it has started, if nothing else changes.
  double watts_when_started(GpuIndex gpu, TimeUs now) const;
  // The same with this job on one more slice of that kind.
  double watts_with(GpuIndex gpu, KindIndex kind, const Job& job) const;
  // When the board's draw changes by itself after `time`, or kNever: a process has started, or a
  // board that became idle falls to a lower level.
  TimeUs next_change(GpuIndex gpu, TimeUs time) const;
  // Each job's share of (board power - idle), by busy compute slices; empty unless asked for.
  std::span<const double> job_energy_j() const { return job_energy_j_; }

 private:
  struct Gpu {
    TimeUs since_us = 0;
    TimeUs used_until_us = 0;  // As accounted; begin() where no job has been.
    double added_w = 0;     // Sum of the running jobs' own watts; boards measured job by job only.
    std::uint8_t busy = 0;  // Compute slices whose process has started.
    std::uint8_t starting = 0;  // Compute slices whose process still starts.
    bool up = true;
    bool lingers = false;  // It has had a process; a context may still be open.
  };
  // A stretch without a job that a failure or return of the board ended.
  struct IdleStretch {
    GpuIndex gpu = 0;
    TimeUs end_us = 0;
    Gpu before;  // As it was throughout.
  };
  static constexpr int kMaxLevels = 16;  // More than any board has.
  struct Meter {
    std::array<std::int64_t, kMaxLevels> level_us{};  // By busy compute slices.
    std::int64_t context_us = 0;
    std::int64_t off_us = 0;
    double added_j = 0;
  };
  struct Running {
    JobIndex job = kNone;
    std::uint8_t compute = 0;
    double watts = 0;
  };

  // A process on a slice that starts, and is busy from `from_us` on.
  struct Starting {
    TimeUs from_us = kNever;
    Running then;
  };

  bool is_additive(GpuIndex gpu) const { return real_power_ && fleet_->board(gpu).power.additive; }
  void account(TimeUs now, GpuIndex gpu);
  void account_level(TimeUs now, GpuIndex gpu);
  void add_start(TimeUs now, SliceId slice, KindIndex kind, JobIndex index, const Job& job);
  bool drop_start(SliceId slice);
  // The GPU's slice that is busy next, at `until` at the latest and after `after`; kNone: none is.
  SliceId next_started(GpuIndex gpu, TimeUs after, TimeUs until) const;
  // The GPU as it is at `time`, for a GPU with slices that start.
  Gpu as_started(GpuIndex index, Gpu gpu, TimeUs time) const;
  void track_on(SliceId slice, KindIndex kind, JobIndex index, const Job& job);
  void track_off(SliceId slice);
  void add_interval(Meter& meter, const Gpu& gpu, const BoardPower& power, TimeUs length) const;
  double sum_watts(GpuIndex gpu) const;
  double watts_at(GpuIndex index, const Gpu& gpu, TimeUs time) const;
  TimeUs next_change(GpuIndex index, const Gpu& gpu, TimeUs time) const;
  void add_idle(std::vector<IdlePiece>& pieces, GpuIndex index, const Gpu& gpu, TimeUs from,
                TimeUs to) const;
  void end_stretch(TimeUs now, GpuIndex gpu);
  double own_watts(GpuIndex gpu, KindIndex kind, const Job& job) const;

  const Fleet* fleet_;
  bool real_power_;
  TimeUs start_us_;
  std::optional<TimeUs> power_down_after_us_;
  double off_w_;
  std::vector<Gpu> gpus_;
  std::vector<Meter> meters_;  // By board.
  bool for_tails_ = false;
  std::vector<IdleStretch> stretches_;  // With for_tails_; by time.
  std::vector<Running>
      running_;  // By slice; kept only where a job's own watts or shares are needed.
  std::vector<Starting> starting_;  // By slice; kept only where a start draws less than work.
  std::vector<double> job_energy_j_;
};

}  // namespace smartmig
