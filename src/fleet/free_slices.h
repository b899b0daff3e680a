// The free slices of a fleet, arranged so that a placer finds the one it wants without a scan: GPUs
// stand in buckets (all alike, by occupied fraction, or by mean slice size), best bucket first, and
// for each bucket and slice kind there is the set of free slices of that kind on its GPUs. Every
// operation costs the same for 8 GPUs and for 100,000, up to the depth of a BitForest.
//
// Invariants: 1. a free slice is in the set (bucket of its GPU, its kind) and in (everywhere_, its
// kind), and in no other; 2. buckets_of_[kind] has a bit for each bucket whose set is not empty,
// kinds_ one for each kind with a free slice.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "fleet/bit_forest.h"
#include "fleet/fleet.h"

namespace smartmig {

// How a placer wants GPUs ordered; ties always go to the lower index.
enum class GpuOrder : std::uint8_t { kIndex, kMostOccupied, kLargestMeanSize };

class FreeSlices {
 public:
  FreeSlices(const Fleet& fleet, GpuOrder order);
  void clear();  // As new.
  GpuOrder order() const { return order_; }

  // A slice that is there becomes free, or stops being free, without a job having it.
  void add(SliceId slice, KindIndex kind) {
    saved_is_true_ = false;
    put(slice, kind);
  }
  void remove(SliceId slice, KindIndex kind) {
    saved_is_true_ = false;
    pull(slice, kind);
  }
  // A job gets the slice, or gives it back: like remove and add, and the GPU's occupied fraction
  // changes.
  void take(SliceId slice, KindIndex kind) {
    pull(slice, kind);
    change_busy(slice, compute_[kind]);
  }
  void give_back(SliceId slice, KindIndex kind) {
    change_busy(slice, -compute_[kind]);
    put(slice, kind);
  }
  // Gives back all of these, which were taken since nothing else changed. Taking up the whole fleet
  // and putting it back is what every instant under free preemption does, so the untouched state is
  // kept and copied over it where that is less work than to undo.
  template <class Slices, class SliceOf, class KindOf>
  void give_back_all(const Slices& taken, SliceOf slice_of, KindOf kind_of) {
    if (saved_is_true_ && taken.size() * 4 > bucket_.size()) {
      copy_saved();
      return;
    }
    for (const auto& item : taken) give_back(slice_of(item), kind_of(item));
    if (!saved_is_true_) save();
  }
  // A slice that a job has goes away with its job: only the occupied fraction changes.
  void forget(SliceId slice, KindIndex kind) { change_busy(slice, -compute_[kind]); }
  // The GPU's usable slices changed: their number and the sum of their compute sizes.
  void set_mean_size(GpuIndex gpu, int sum, int count);

  bool is_free(SliceId slice, KindIndex kind) const {
    return forest_.group(set(everywhere_, kind), slice) & 1;
  }
  KindSet kinds() const { return kinds_; }  // With at least one free slice.
  // Busy compute slices; kept under kMostOccupied only.
  int busy(GpuIndex gpu) const { return busy_[gpu]; }

  // Buckets that have a free slice of one of the kinds, as bits, best bucket lowest.
  std::uint64_t buckets(KindSet kinds) const {
    if (everywhere_ == 0) return (kinds & kinds_) != 0;
    std::uint64_t found = 0;
    for (; kinds; kinds &= kinds - 1) found |= buckets_of_[std::countr_zero(kinds)];
    return found;
  }
  // The lowest free slice of one of the kinds, in a bucket or on any GPU; kNone if there is none.
  SliceId first(int bucket, KindSet kinds) const { return forest_.first_of(set(bucket, 0), kinds); }
  SliceId first_anywhere(KindSet kinds) const { return first(everywhere_, kinds); }
  // The lowest free slice of a kind on any GPU from this one on; kNone if there is none.
  SliceId next_anywhere(int kind, SliceId from) const {
    return forest_.next(set(everywhere_, kind), from);
  }
  // Those of the kinds of which the GPU has a free slice.
  KindSet kinds_on(GpuIndex gpu, KindSet kinds) const {
    KindSet found = 0;
    for (; kinds; kinds &= kinds - 1) {
      if (starts(gpu, std::countr_zero(kinds))) found |= kinds & -kinds;
    }
    return found;
  }
  // The free slices of a kind on a GPU, as bits by first memory slice.
  std::uint64_t starts(GpuIndex gpu, int kind) const {
    return forest_.group(set(everywhere_, kind), gpu << stride_bits_) & stride_set_;
  }
  // The lowest free slice on the GPU of one of the kinds; there must be one.
  SliceId lowest(GpuIndex gpu, KindSet kinds) const {
    std::uint64_t all = 0;
    for (; kinds; kinds &= kinds - 1) all |= starts(gpu, std::countr_zero(kinds));
    return (gpu << stride_bits_) + static_cast<std::uint32_t>(std::countr_zero(all));
  }

 private:
  std::size_t set(int bucket, int kind) const {
    return static_cast<std::size_t>(bucket) * kind_count_ + kind;
  }
  GpuIndex gpu_of(SliceId slice) const { return slice >> stride_bits_; }
  void change_busy(SliceId slice, int by) {
    if (order_ != GpuOrder::kMostOccupied) return;
    const GpuIndex gpu = gpu_of(slice);
    busy_[gpu] = static_cast<std::uint8_t>(busy_[gpu] + by);
    move_to_bucket(gpu, bucket_of_busy_[board_of_gpu_[gpu]][busy_[gpu]]);
  }
  void move_to_bucket(GpuIndex gpu, int bucket);
  void save();
  void copy_saved();
  void put(SliceId slice, KindIndex kind) {
    if (forest_.insert(set(everywhere_, kind), slice)) kinds_ |= KindSet{1} << kind;
    if (everywhere_ != 0) enter(slice, kind);
  }
  void pull(SliceId slice, KindIndex kind) {
    if (forest_.erase(set(everywhere_, kind), slice)) kinds_ &= ~(KindSet{1} << kind);
    if (everywhere_ != 0) leave(slice, kind);
  }
  // Into, or out of, its bucket's set.
  void enter(SliceId slice, KindIndex kind) {
    const int bucket = bucket_[gpu_of(slice)];
    if (forest_.insert(set(bucket, kind), slice)) buckets_of_[kind] |= std::uint64_t{1} << bucket;
  }
  void leave(SliceId slice, KindIndex kind) {
    const int bucket = bucket_[gpu_of(slice)];
    if (forest_.erase(set(bucket, kind), slice)) buckets_of_[kind] &= ~(std::uint64_t{1} << bucket);
  }

  GpuOrder order_;
  int everywhere_ = 0;  // The number of the sets over all GPUs: one above the buckets; 0 where
                        // there is one bucket only.
  std::size_t kind_count_;
  std::uint32_t stride_bits_;
  std::uint64_t stride_set_;           // As many low bits as a GPU has numbers for slices.
  std::vector<std::uint8_t> compute_;  // By kind.
  std::vector<std::uint8_t> board_of_gpu_;
  std::vector<std::pair<KindIndex, KindIndex>>
      range_;  // By board: its kinds, first and past the last.
  std::vector<std::vector<std::uint8_t>> bucket_of_busy_;  // By board, busy compute slices.
  std::vector<std::uint8_t> bucket_of_mean_;               // By sum * 16 + count.
  // What taking a slice changes.
  BitForest forest_;
  std::vector<std::uint8_t> bucket_;
  std::vector<std::uint8_t> busy_;
  std::vector<std::uint64_t> buckets_of_;  // By kind.
  KindSet kinds_ = 0;
  // The same, as it was before anything was taken; valid while saved_is_true_.
  struct Saved {
    BitForest forest;
    std::vector<std::uint8_t> bucket;
    std::vector<std::uint8_t> busy;
    std::vector<std::uint64_t> buckets_of;
    KindSet kinds = 0;
  };
  Saved saved_;
  bool saved_is_true_ = false;
};

}  // namespace smartmig
