// The fleet: which board each GPU is, and the kinds of slices its boards can have. Never changes
// during a run.
//
// A slice is named by one number, gpu * stride + first memory slice: it stays the same as long as
// the slice exists, whatever happens to its neighbours, and sorts by GPU, then position.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/board.h"
#include "mig/layout.h"
#include "workload/job.h"

namespace smartmig {

using GpuIndex = std::uint32_t;
using SliceId = std::uint32_t;
using KindIndex = std::uint8_t;
using KindSet = std::uint64_t;  // Bit k is Fleet::kinds()[k].

inline constexpr std::uint32_t kNone = UINT32_MAX;  // No job, no slice, no GPU.
inline constexpr KindIndex kNoKind = 0xff;
inline constexpr int kMaxKinds = 64;

// What a job can see of a slice: every profile of every board of the fleet is one kind.
struct SliceKind {
  std::uint8_t board = 0;    // Index into Fleet::boards().
  std::uint8_t profile = 0;  // Index into Board::profiles.
  std::uint8_t size = 0;     // Index into kSizes.
  std::uint8_t compute = 0;  // kSizes[size]
  bool base = true;          // A base profile; else one with double memory.
  std::int32_t memory_mib = 0;
  double time_factor = 1;  // Times of a job table are multiplied by this: 1 / BoardSpeed::factor.
};

class Fleet {
 public:
  // "8xA100-40GB", "4xA100-40GB+4xH100-80GB", or a file with one such term a line (# comments).
  static Result<Fleet> parse(std::string_view spec,
                             const BoardTable& boards = BoardTable::shipped());
  static Result<Fleet> make(std::vector<const Board*> gpus);

  GpuIndex gpu_count() const { return static_cast<GpuIndex>(gpu_board_.size()); }
  const Board& board(GpuIndex gpu) const { return *boards_[gpu_board_[gpu]]; }
  std::uint8_t board_index(GpuIndex gpu) const { return gpu_board_[gpu]; }
  std::span<const Board* const> boards() const { return boards_; }
  std::span<const SliceKind> kinds() const { return kinds_; }

  SliceId slice_count() const { return gpu_count() * stride_; }
  std::uint32_t stride() const { return stride_; }
  GpuIndex gpu_of(SliceId slice) const { return slice >> stride_bits_; }
  SliceId slice_at(GpuIndex gpu, std::uint32_t start) const {
    return (gpu << stride_bits_) + start;
  }
  std::uint32_t start_of(SliceId slice) const { return slice & (stride_ - 1); }
  KindIndex kind_of_slot(GpuIndex gpu, int slot) const { return slot_kind_[gpu_board_[gpu]][slot]; }

  // All compute slices of all GPUs, and the largest size (index into kSizes) that any board has.
  int compute_slices() const { return compute_slices_; }
  int largest_size() const { return largest_size_; }

  // Kinds on which the job runs: it has a time for the size, and its memory need fits.
  KindSet kinds_for(const Job& job) const {
    KindSet set = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const bool runs = job.time_us[kinds_[k].size] > 0 && job.memory_mib <= kinds_[k].memory_mib;
      set |= static_cast<KindSet>(runs) << k;
    }
    return set;
  }
  // Kinds on which every job takes as long as on this one: the same size on boards of the same
  // speed.
  KindSet twins(int kind) const { return twins_[kind]; }
  // Whether the job is faster on every kind of a larger index (but for twins), among `kinds`, on
  // all of which it runs. True of most jobs on fleets of one board, and then the fastest of several
  // kinds is simply the last.
  bool faster_by_index(const Job& job, KindSet kinds) const;
  // The full time on a kind on which it runs, in microseconds.
  double full_us(const Job& job, KindIndex kind) const {
    return static_cast<double>(job.time_us[kinds_[kind].size]) * kinds_[kind].time_factor;
  }
  // The least full time over those of `kinds`, on all of which the job runs, that are base profiles
  // of each size; 0 where there is none.
  std::array<double, kSizeCount> best_times(const Job& job, KindSet kinds) const;

  // Some of the GPUs, in this order, with the same boards and kinds of slices.
  Fleet subset(std::span<const GpuIndex> gpus) const;

  // The same GPUs, each drawing `scale` times the power in every state.
  Fleet with_power_scaled(double scale) const;

  // The same GPUs with other speeds, one for each of boards(), for times taken on `times_board`.
  Fleet with_speeds(std::span<const BoardSpeed> speeds, const std::string& times_board) const;
  // The board whose slices the times of the job table are for.
  const std::string& times_board() const { return times_board_; }

  // "8xA100-40GB"
  std::string name() const;

 private:
  void find_twins();

  std::vector<const Board*> boards_;                      // Distinct, in order of first use.
  std::vector<std::shared_ptr<const Board>> own_boards_;  // Those of no table.
  std::vector<std::uint8_t> gpu_board_;
  std::vector<SliceKind> kinds_;
  std::vector<KindSet> twins_;                        // By kind.
  std::vector<std::array<KindIndex, 64>> slot_kind_;  // By board, slot.
  std::uint32_t stride_ = 8;                          // A power of two.
  std::uint32_t stride_bits_ = 3;
  int compute_slices_ = 0;
  int largest_size_ = 0;
  std::string times_board_ = kTimesBoard;
};

// "4xA100-40GB+4xH100-80GB", as Fleet::parse() reads it: one board for each GPU.
std::string fleet_spec(std::span<const std::string> boards);

// "7,4-3*4,3-2-2*3": one layout for each GPU of the fleet, as sets of slots. Errors: an illegal
// layout, too few or too many.
Result<std::vector<SlotSet>> parse_layout_list(std::string_view text, const Fleet& fleet);

}  // namespace smartmig
