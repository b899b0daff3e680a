// The free slices of a fleet, arranged so that a placer finds the one it wants without a scan: GPUs stand in
// buckets (all alike, by occupied fraction, or by mean slice size), best bucket first, and for each bucket and slice kind
// there is the set of GPUs with a free slice of that kind. Every operation costs the same for 8 GPUs and for
// 100,000, up to the depth of a BitForest.
//
// Invariants: 1. starts_[gpu, kind] has a bit for each free slice; 2. a GPU is in set (bucket, kind) exactly when
// bucket is its own and starts_[gpu, kind] is not zero; 3. counts agree with the bits.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "fleet/bit_forest.h"
#include "fleet/fleet.h"

namespace smartmig {

// How a placer wants GPUs ordered; ties always go to the lower index.
enum class GpuOrder : std::uint8_t { kIndex, kMostOccupied, kLargestMeanSize };

class FreeSlices {
 public:
  FreeSlices(const Fleet& fleet, GpuOrder order);

  // A slice that is there becomes free, or stops being free, without a job having it.
  void add(SliceId slice, KindIndex kind);
  void remove(SliceId slice, KindIndex kind);
  // A job gets the slice, or gives it back: like remove and add, and the GPU's occupied fraction changes.
  void take(SliceId slice, KindIndex kind);
  void give_back(SliceId slice, KindIndex kind);
  // A slice that a job has goes away with its job: only the occupied fraction changes.
  void forget(SliceId slice, KindIndex kind) { set_busy(gpu_of(slice), busy_[gpu_of(slice)] - compute_[kind]); }
  // The GPU's usable slices changed: their number and the sum of their compute sizes.
  void set_mean_size(GpuIndex gpu, int sum, int count);

  bool is_free(SliceId slice, KindIndex kind) const {
    return starts_[row(gpu_of(slice), kind)] >> (slice & stride_mask_) & 1;
  }
  KindSet kinds() const { return kinds_; }  // With at least one free slice.
  int busy(GpuIndex gpu) const { return busy_[gpu]; }

  // Buckets that have a free slice, as bits, best bucket lowest.
  std::uint64_t buckets() const { return buckets_; }
  int busy_of_bucket(int bucket, int board) const { return busy_of_bucket_[board][bucket]; }  // kMostOccupied only.
  // The lowest GPU of a bucket with a free slice of one of the kinds, or kNone.
  GpuIndex first_gpu(int bucket, KindSet kinds) const {
    GpuIndex best = kNone;
    for (; kinds; kinds &= kinds - 1) {
      const GpuIndex gpu = forest_.first(set(bucket, std::countr_zero(kinds)));
      if (gpu < best) best = gpu;
    }
    return best;
  }
  GpuIndex first_gpu_anywhere(KindSet kinds) const;
  // The free slices of a kind on a GPU, as bits by first memory slice.
  std::uint32_t starts(GpuIndex gpu, KindIndex kind) const { return starts_[row(gpu, kind)]; }
  // The lowest free slice on the GPU of one of the kinds; there must be one.
  SliceId lowest(GpuIndex gpu, KindSet kinds) const;
  KindSet kinds_on(GpuIndex gpu, KindSet kinds) const;  // Those of `kinds` with a free slice on the GPU.

 private:
  std::size_t row(GpuIndex gpu, std::size_t kind) const { return gpu * kind_count_ + kind; }
  std::size_t set(int bucket, int kind) const { return static_cast<std::size_t>(bucket) * kind_count_ + kind; }
  GpuIndex gpu_of(SliceId slice) const { return slice >> stride_bits_; }
  void set_busy(GpuIndex gpu, int busy);
  void move_to_bucket(GpuIndex gpu, int bucket);
  void count(int bucket, KindIndex kind, int change);

  GpuOrder order_;
  std::size_t kind_count_;
  std::uint32_t stride_bits_;
  std::uint32_t stride_mask_;
  std::vector<std::uint8_t> compute_;                    // By kind.
  std::vector<std::uint8_t> board_of_gpu_;
  std::vector<std::pair<KindIndex, KindIndex>> range_;   // By board: its kinds, first and past the last.
  std::vector<std::vector<std::uint8_t>> bucket_of_busy_;  // By board, busy compute slices.
  std::vector<std::vector<std::int8_t>> busy_of_bucket_;   // The inverse.
  std::vector<std::uint8_t> bucket_of_mean_;               // By sum * 16 + count.
  BitForest forest_;
  std::vector<std::uint16_t> starts_;
  std::vector<std::uint8_t> bucket_;
  std::vector<std::uint8_t> busy_;
  std::vector<std::uint32_t> free_in_bucket_;
  std::vector<std::uint32_t> free_of_kind_;
  std::uint64_t buckets_ = 0;
  KindSet kinds_ = 0;
};

}  // namespace smartmig
