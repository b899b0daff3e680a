#include "fleet/free_slices.h"

#include <algorithm>
#include <map>

namespace smartmig {
namespace {

// Fractions in descending order get the numbers 0, 1, ...; equal ones the same number.
class Ranking {
 public:
  void add(int numerator, int denominator) { values_.push_back({numerator, denominator}); }
  void finish() {
    std::sort(values_.begin(), values_.end(), above);
    values_.erase(std::unique(values_.begin(), values_.end(),
                              [](const auto& a, const auto& b) { return a.first * b.second == b.first * a.second; }),
                  values_.end());
    SM_CHECK(values_.size() <= 64);
  }
  int of(int numerator, int denominator) const {
    const std::pair value{numerator, denominator};
    return static_cast<int>(std::lower_bound(values_.begin(), values_.end(), value, above) - values_.begin());
  }
  std::size_t size() const { return values_.size(); }

 private:
  static bool above(const std::pair<int, int>& a, const std::pair<int, int>& b) {
    return a.first * b.second > b.first * a.second;
  }
  std::vector<std::pair<int, int>> values_;
};

constexpr int kMaxCount = 16;  // More slices than any board has.

}  // namespace

FreeSlices::FreeSlices(const Fleet& fleet, GpuOrder order)
    : order_(order),
      kind_count_(fleet.kinds().size()),
      stride_bits_(static_cast<std::uint32_t>(std::countr_zero(fleet.stride()))),
      stride_mask_(fleet.stride() - 1),
      starts_(fleet.gpu_count() * fleet.kinds().size(), 0),
      bucket_(fleet.gpu_count(), 0),
      busy_(fleet.gpu_count(), 0),
      free_of_kind_(fleet.kinds().size(), 0) {
  range_.assign(fleet.boards().size(), {kNoKind, 0});
  for (KindIndex k = 0; k < kind_count_; ++k) {
    const SliceKind& kind = fleet.kinds()[k];
    compute_.push_back(kind.compute);
    auto& range = range_[kind.board];
    range.first = std::min(range.first, k);
    range.second = static_cast<KindIndex>(k + 1);
  }
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) board_of_gpu_.push_back(fleet.board_index(gpu));

  std::size_t buckets = 1;
  if (order == GpuOrder::kMostOccupied) {
    Ranking ranking;
    for (const Board* board : fleet.boards()) {
      for (int busy = 0; busy <= board->compute_slices; ++busy) ranking.add(busy, board->compute_slices);
    }
    ranking.finish();
    buckets = ranking.size();
    for (const Board* board : fleet.boards()) {
      auto& forward = bucket_of_busy_.emplace_back();
      auto& inverse = busy_of_bucket_.emplace_back(buckets, -1);
      for (int busy = 0; busy <= board->compute_slices; ++busy) {
        forward.push_back(static_cast<std::uint8_t>(ranking.of(busy, board->compute_slices)));
        inverse[forward.back()] = static_cast<std::int8_t>(busy);
      }
    }
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) bucket_[gpu] = bucket_of_busy_[board_of_gpu_[gpu]][0];
  } else if (order == GpuOrder::kLargestMeanSize) {
    // All means that can come up: sums to 7, counts to 7. A GPU without slices is in no set, any bucket will do.
    Ranking ranking;
    for (int sum = 1; sum <= 7; ++sum) {
      for (int slices = 1; slices <= sum; ++slices) ranking.add(sum, slices);
    }
    ranking.finish();
    buckets = ranking.size();
    bucket_of_mean_.assign(8 * kMaxCount, 0);
    for (int sum = 1; sum <= 7; ++sum) {
      for (int slices = 1; slices <= sum; ++slices) {
        bucket_of_mean_[sum * kMaxCount + slices] = static_cast<std::uint8_t>(ranking.of(sum, slices));
      }
    }
  }
  forest_ = BitForest(buckets * kind_count_, fleet.gpu_count());
  free_in_bucket_.assign(buckets, 0);
}

void FreeSlices::count(int bucket, KindIndex kind, int change) {
  free_of_kind_[kind] += change;
  free_in_bucket_[bucket] += change;
  const auto set_bit = [](std::uint64_t& word, int bit, bool on) {
    word = (word & ~(std::uint64_t{1} << bit)) | static_cast<std::uint64_t>(on) << bit;
  };
  set_bit(kinds_, kind, free_of_kind_[kind] > 0);
  set_bit(buckets_, bucket, free_in_bucket_[bucket] > 0);
}

void FreeSlices::add(SliceId slice, KindIndex kind) {
  const GpuIndex gpu = gpu_of(slice);
  auto& starts = starts_[row(gpu, kind)];
  if (starts == 0) forest_.insert(set(bucket_[gpu], kind), gpu);
  starts = static_cast<std::uint16_t>(starts | 1u << (slice & stride_mask_));
  count(bucket_[gpu], kind, 1);
}

void FreeSlices::remove(SliceId slice, KindIndex kind) {
  const GpuIndex gpu = gpu_of(slice);
  auto& starts = starts_[row(gpu, kind)];
  SM_CHECK(starts >> (slice & stride_mask_) & 1);
  starts = static_cast<std::uint16_t>(starts & ~(1u << (slice & stride_mask_)));
  if (starts == 0) forest_.erase(set(bucket_[gpu], kind), gpu);
  count(bucket_[gpu], kind, -1);
}

void FreeSlices::take(SliceId slice, KindIndex kind) {
  remove(slice, kind);
  set_busy(gpu_of(slice), busy_[gpu_of(slice)] + compute_[kind]);
}

void FreeSlices::give_back(SliceId slice, KindIndex kind) {
  set_busy(gpu_of(slice), busy_[gpu_of(slice)] - compute_[kind]);
  add(slice, kind);
}

void FreeSlices::set_busy(GpuIndex gpu, int busy) {
  busy_[gpu] = static_cast<std::uint8_t>(busy);
  if (order_ == GpuOrder::kMostOccupied) move_to_bucket(gpu, bucket_of_busy_[board_of_gpu_[gpu]][busy]);
}

void FreeSlices::set_mean_size(GpuIndex gpu, int sum, int slices) {
  if (order_ == GpuOrder::kLargestMeanSize && slices > 0) {
    move_to_bucket(gpu, bucket_of_mean_[sum * kMaxCount + slices]);
  }
}

void FreeSlices::move_to_bucket(GpuIndex gpu, int bucket) {
  const int old = bucket_[gpu];
  if (old == bucket) return;
  bucket_[gpu] = static_cast<std::uint8_t>(bucket);
  const auto [first, last] = range_[board_of_gpu_[gpu]];
  for (KindIndex kind = first; kind < last; ++kind) {
    const int slices = std::popcount(starts_[row(gpu, kind)]);
    if (slices == 0) continue;
    forest_.erase(set(old, kind), gpu);
    forest_.insert(set(bucket, kind), gpu);
    count(old, kind, -slices);
    count(bucket, kind, slices);
  }
}

GpuIndex FreeSlices::first_gpu_anywhere(KindSet kinds) const {
  GpuIndex best = kNone;
  for (std::uint64_t rest = buckets_; rest; rest &= rest - 1) {
    best = std::min(best, first_gpu(std::countr_zero(rest), kinds));
  }
  return best;
}

SliceId FreeSlices::lowest(GpuIndex gpu, KindSet kinds) const {
  std::uint32_t all = 0;
  for (; kinds; kinds &= kinds - 1) all |= starts_[row(gpu, std::countr_zero(kinds))];
  SM_CHECK(all != 0);
  return (gpu << stride_bits_) + static_cast<std::uint32_t>(std::countr_zero(all));
}

KindSet FreeSlices::kinds_on(GpuIndex gpu, KindSet kinds) const {
  KindSet found = 0;
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    found |= static_cast<KindSet>(starts_[row(gpu, kind)] != 0) << kind;
  }
  return found;
}

}  // namespace smartmig
