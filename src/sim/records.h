// What a run leaves behind beyond its sums: every job's start and slice, every layout change, every
// step of power, and utilisation, fragmentation and queue length over time; for pictures, who was
// on which slice when. Kept only when asked for.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "fleet/state.h"

namespace smartmig {

struct JobRecord {
  TimeUs first_start_us = -1;
  SliceId slice = kNone;  // The last one it ran on.
  KindIndex kind = kNoKind;
  std::uint16_t starts = 0;
};

// A GPU's slices as of a time: those that are there, and those it is to have.
struct LayoutRecord {
  TimeUs at_us = 0;
  GpuIndex gpu = 0;
  SlotSet ready = 0;
  SlotSet target = 0;
  bool up = true;
};

struct PowerRecord {
  TimeUs at_us = 0;
  GpuIndex gpu = 0;
  double watts = 0;
};

// A job on a slice for a while: until it was done, stopped or moved, its save included. What began
// and ended at one instant has none.
struct StayRecord {
  TimeUs begin_us = 0;
  TimeUs end_us = 0;
  SliceId slice = kNone;
  JobIndex job = kNone;
  std::uint8_t slot = 0;
};

// Means over one stretch of kBinUs.
struct TimelineRecord {
  double utilisation = 0;    // Busy compute slices / all.
  double fragmentation = 0;  // Of the compute slices that are not busy, the share that no single
                             // new slice per GPU could use.
  double waiting = 0;        // Jobs that do not run.
  double power_w = 0;
};

class Records {
 public:
  static constexpr TimeUs kBinUs = 5 * kMinuteUs;

  // `stays`: keep stays(), which under free preemption are many times the jobs.
  Records(const State& state, std::size_t jobs, bool stays);

  void job_started(const State& state, JobIndex job);
  // Time goes from state.now() to `to` with nothing changing.
  void pass_time(const State& state, TimeUs to);
  // The instant is over; these GPUs may have changed.
  void observe(const State& state, std::span<const GpuIndex> touched);
  // Takes power that is not charged out of the records: a board draws nothing from its first piece
  // on. The pieces of a board must cover the rest of the run. By GPU and time.
  void leave_out(std::span<const IdlePiece> uncharged);

  std::span<const JobRecord> jobs() const { return jobs_; }
  std::span<const LayoutRecord> layouts() const { return layouts_; }
  std::span<const PowerRecord> power() const { return power_; }
  // In the order of their ends; empty unless asked for.
  std::span<const StayRecord> stays() const { return stays_; }
  std::vector<TimelineRecord> timeline() const;
  // Over the whole run.
  TimelineRecord means() const;

 private:
  // Sums over a stretch, in units of microseconds times the quantity.
  struct Sums {
    double time = 0;
    double busy = 0;
    double idle = 0;    // Compute slices that are not busy.
    double usable = 0;  // Of these, what one new slice on each GPU could take.
    double waiting = 0;
    double energy_w_us = 0;
  };
  struct GpuSeen {
    int busy = 0;
    int usable = 0;
    double watts = -1;
    SlotSet ready = 0;
    SlotSet target = 0;
    bool up = true;
    TimeUs next_change_us = kNever;
  };
  void note_gpu(const State& state, GpuIndex gpu);
  void note_stays(const State& state, GpuIndex gpu);
  void add(Sums& sums, double length) const;
  void integrate(TimeUs from, TimeUs to);
  template <class Add>
  void for_each_bin(TimeUs from, TimeUs to, const Add& add);
  void note_changes(const State& state, TimeUs until);

  int compute_total_ = 0;
  TimeUs begin_us_ = 0;
  TimeUs now_us_ = 0;
  std::vector<JobRecord> jobs_;
  std::vector<LayoutRecord> layouts_;
  std::vector<PowerRecord> power_;
  std::vector<StayRecord> stays_;
  std::vector<StayRecord> staying_;  // By slice: what is there now; empty unless asked for.
  std::vector<Sums> bins_;
  std::vector<GpuSeen> seen_;
  long busy_ = 0;
  long usable_ = 0;
  double watts_ = 0;
  double waiting_ = 0;
};

}  // namespace smartmig
