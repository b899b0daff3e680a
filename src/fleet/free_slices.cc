#include "fleet/free_slices.h"

#include <algorithm>

namespace smartmig {
namespace {

// Fractions in descending order get the numbers 0, 1, ...; equal ones the same number.
class Ranking {
 public:
  void add(int numerator, int denominator) { values_.push_back({numerator, denominator}); }
  void finish() {
    std::sort(values_.begin(), values_.end(), above);
    values_.erase(std::unique(values_.begin(), values_.end(),
                              [](const auto& a, const auto& b) {
                                return a.first * b.second == b.first * a.second;
                              }),
                  values_.end());
    SM_CHECK(values_.size() <= 64);
  }
  int of(int numerator, int denominator) const {
    const std::pair value{numerator, denominator};
    return static_cast<int>(std::lower_bound(values_.begin(), values_.end(), value, above) -
                            values_.begin());
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
      stride_set_((std::uint64_t{1} << fleet.stride()) - 1),
      bucket_(fleet.gpu_count(), 0),
      busy_(fleet.gpu_count(), 0),
      buckets_of_(fleet.kinds().size(), 0) {
  range_.assign(fleet.boards().size(), {kNoKind, 0});
  for (KindIndex k = 0; k < kind_count_; ++k) {
    const SliceKind& kind = fleet.kinds()[k];
    compute_.push_back(kind.compute);
    auto& range = range_[kind.board];
    range.first = std::min(range.first, k);
    range.second = static_cast<KindIndex>(k + 1);
  }
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    board_of_gpu_.push_back(fleet.board_index(gpu));

  std::size_t buckets = 1;
  if (order == GpuOrder::kMostOccupied) {
    Ranking ranking;
    for (const Board* board : fleet.boards()) {
      for (int busy = 0; busy <= board->compute_slices; ++busy)
        ranking.add(busy, board->compute_slices);
    }
    ranking.finish();
    buckets = ranking.size();
    for (const Board* board : fleet.boards()) {
      auto& forward = bucket_of_busy_.emplace_back();
      for (int busy = 0; busy <= board->compute_slices; ++busy) {
        forward.push_back(static_cast<std::uint8_t>(ranking.of(busy, board->compute_slices)));
      }
    }
  } else if (order == GpuOrder::kLargestMeanSize) {
    // All means that can come up: sums to 7, counts to 7. A GPU without slices is in no set, any
    // bucket will do.
    Ranking ranking;
    for (int sum = 1; sum <= 7; ++sum) {
      for (int slices = 1; slices <= sum; ++slices) ranking.add(sum, slices);
    }
    ranking.finish();
    buckets = ranking.size();
    bucket_of_mean_.assign(8 * kMaxCount, 0);
    for (int sum = 1; sum <= 7; ++sum) {
      for (int slices = 1; slices <= sum; ++slices) {
        bucket_of_mean_[sum * kMaxCount + slices] =
            static_cast<std::uint8_t>(ranking.of(sum, slices));
      }
    }
  }
  if (buckets > 1) everywhere_ = static_cast<int>(buckets++);
  forest_ = BitForest(buckets * kind_count_, fleet.slice_count());
  clear();
}

void FreeSlices::clear() {
  forest_.clear();
  for (GpuIndex gpu = 0; gpu < bucket_.size(); ++gpu) {
    const bool by_busy = order_ == GpuOrder::kMostOccupied;
    bucket_[gpu] = by_busy ? bucket_of_busy_[board_of_gpu_[gpu]][0] : std::uint8_t{0};
  }
  std::fill(busy_.begin(), busy_.end(), 0);
  std::fill(buckets_of_.begin(), buckets_of_.end(), 0);
  kinds_ = 0;
  saved_is_true_ = false;
}

void FreeSlices::save() {
  // One by one: each vector keeps the room it has.
  saved_.forest = forest_;
  saved_.bucket = bucket_;
  saved_.busy = busy_;
  saved_.buckets_of = buckets_of_;
  saved_.kinds = kinds_;
  saved_is_true_ = true;
}

void FreeSlices::copy_saved() {
  forest_.copy_words(saved_.forest);
  if (order_ == GpuOrder::kMostOccupied) {
    std::copy(saved_.bucket.begin(), saved_.bucket.end(), bucket_.begin());
    std::copy(saved_.busy.begin(), saved_.busy.end(), busy_.begin());
  }
  std::copy(saved_.buckets_of.begin(), saved_.buckets_of.end(), buckets_of_.begin());
  kinds_ = saved_.kinds;
}

void FreeSlices::set_mean_size(GpuIndex gpu, int sum, int slices) {
  saved_is_true_ = false;
  if (order_ == GpuOrder::kLargestMeanSize && slices > 0) {
    move_to_bucket(gpu, bucket_of_mean_[sum * kMaxCount + slices]);
  }
}

void FreeSlices::move_to_bucket(GpuIndex gpu, int bucket) {
  if (bucket_[gpu] == bucket) return;
  const auto of_each_free = [&](auto what) {
    const auto [begin, end] = range_[board_of_gpu_[gpu]];
    for (KindIndex kind = begin; kind < end; ++kind) {
      for (std::uint64_t rest = starts(gpu, kind); rest; rest &= rest - 1) {
        what((gpu << stride_bits_) + static_cast<std::uint32_t>(std::countr_zero(rest)), kind);
      }
    }
  };
  of_each_free([this](SliceId slice, KindIndex kind) { leave(slice, kind); });
  bucket_[gpu] = static_cast<std::uint8_t>(bucket);
  of_each_free([this](SliceId slice, KindIndex kind) { enter(slice, kind); });
}

}  // namespace smartmig
