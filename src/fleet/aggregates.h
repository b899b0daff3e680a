// Sums over the fleet and the ready jobs that are kept as events happen, so that a policy that
// looks at distributions does not scan: its cost is then the same for 8 GPUs and for a million.
// Kept only where a policy asks for them. docs/model/semantics.md ("What is summed up") has the
// rules.
//
// Invariants: 1. a GPU that is up is in the set of its target's number, if that has one, and
// in no other; 2. counts(h)[b] is the number of ready jobs whose bin in histogram h is b, as of the
// last pass_time() for time to deadline, and as of a job's last start, stop or arrival for the
// others; 3. a ready job in bin b > 0 of time to deadline is in by_deadline_[b].
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fleet/bit_forest.h"
#include "fleet/fleet.h"
#include "fleet/job_queue.h"
#include "fleet/layout_numbers.h"

namespace smartmig {

// Lower edges of the papers' bins; the last is open. What lies below the first is in the first.
inline constexpr int kBinCount = 10;
inline constexpr std::array<TimeUs, kBinCount> kBinFromUs = {-100 * kMinuteUs, 0,
                                                             3 * kSecondUs,    12 * kSecondUs,
                                                             30 * kSecondUs,   kMinuteUs,
                                                             5 * kMinuteUs,    10 * kMinuteUs,
                                                             20 * kMinuteUs,   30 * kMinuteUs};

// Of the ready jobs: time to the deadline, and time on slices of 1g and 2g (mean), of 3g and 4g
// (mean), and of the fleet's largest size.
enum class Histogram : std::uint8_t { kToDeadline, kSmall, kMedium, kLarge };
inline constexpr int kHistogramCount = 4;
using BinCounts = std::array<std::uint32_t, kBinCount>;

class Aggregates {
 public:
  Aggregates(const Fleet& fleet, std::size_t jobs);
  // As new, for another table; allocates only where it has more jobs than any before.
  void restart(std::size_t jobs);
  // The table has grown to this many jobs.
  void extend(std::size_t jobs) { entries_.resize(jobs); }

  // A job's full times, in microseconds by size, 0 where it does not run; before it is added.
  void learn_times(JobIndex job, const std::array<double, kSizeCount>& full_us);
  // The job becomes ready. `left` is the fraction of its work as policies see it.
  void add(JobIndex job, TimeUs deadline_us, double left, TimeUs now);
  void remove(JobIndex job);
  // A ready job's work has changed. Most often that moves it to no other bin.
  void set_left(JobIndex job, double left) {
    Entry& entry = entries_[job];
    if (left < entry.moves_below || left > entry.moves_above) move_times(entry, left);
  }
  // The bins of time to deadline are then right. O(1) for each edge a job has crossed.
  void pass_time(TimeUs now);
  // The GPU's target is now this, or it is down.
  void set_layout(GpuIndex gpu, SlotSet target, bool up);

  std::size_t ready() const { return ready_; }
  const BinCounts& counts(Histogram histogram) const {
    return counts_[static_cast<std::size_t>(histogram)];
  }
  const LayoutNumbers& layouts(std::size_t board) const { return layouts_[board]; }
  // GPUs of the board that are up and have the layout as their target.
  std::uint32_t gpus_in(std::size_t board, int number) const {
    return in_layout_[set_of(board, number)];
  }
  // The least such GPU from `from` on, or kNone.
  GpuIndex next_gpu(std::size_t board, int number, GpuIndex from) const {
    return gpus_.next(set_of(board, number), from);
  }

 private:
  static constexpr int kTimes = kHistogramCount - 1;
  struct Entry {
    std::array<double, kTimes> full_us{};
    double moves_below = 0;  // With no less left than this, and no more than the next, it is in
    double moves_above = 0;  // its bins.
    TimeUs deadline_us = 0;
    std::array<std::uint8_t, kHistogramCount> bins{};
  };

  std::size_t set_of(std::size_t board, int number) const {
    return first_set_[board] + static_cast<std::size_t>(number);
  }
  void put_in_bins(Entry& entry, double left);
  void move_times(Entry& entry, double left);

  const Fleet* fleet_;
  std::vector<LayoutNumbers> layouts_;    // By board.
  std::vector<std::size_t> first_set_;    // By board: the set of its layout 0.
  std::vector<std::uint32_t> in_layout_;  // By set.
  BitForest gpus_;
  std::vector<std::uint16_t> set_of_gpu_;
  std::vector<Entry> entries_;  // By job.
  std::array<BinCounts, kHistogramCount> counts_{};
  std::array<JobQueue, kBinCount> by_deadline_;  // [0] is not used: no job leaves that bin in time.
  std::size_t ready_ = 0;
};

}  // namespace smartmig
