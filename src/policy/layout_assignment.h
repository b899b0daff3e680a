// The best layout of one GPU for given jobs, one slice for each, found over all maximal placements
// and all one-to-one assignments. Pure geometry and numbers; it knows no jobs but their values.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mig/layout.h"

namespace smartmig {

inline constexpr int kNotThere = -1;  // Value of a slice that a job does not run on.
inline constexpr std::uint8_t kNoSlice = 0xff;

// A job of the GPU: what a slice of each of kSizes is worth to it, and the slot it has now.
struct SliceValues {
  std::array<std::int32_t, kSizeCount> by_size{};
  std::uint8_t slot = kNoSlice;
};

struct LayoutAssignment {
  bool found = false;
  SlotSet set = 0;
  std::array<std::uint8_t, 7> slots{};  // One for each job.
};

// Maximal placements of base profiles, in order of their layout's number (the position in
// layouts(), the list of `smartmig gpus BOARD`), then ascending as sets.
class MaximalPlacements {
 public:
  explicit MaximalPlacements(const Board& board);

  // The largest sum of values; ties: the most jobs that keep their slot, the first placement, then
  // the lowest slice for the first job, then for the second, and so on. At most 7 jobs.
  LayoutAssignment assign(std::span<const SliceValues> jobs) const;
  // The most slices of any placement.
  int most_slices() const { return most_slices_; }

 private:
  struct Slice {
    std::uint8_t slot = 0;
    std::uint8_t size = 0;  // Index into kSizes.
  };
  struct Placement {
    SlotSet set = 0;
    int count = 0;
    std::array<Slice, 8> slices{};  // By first memory slice.
  };

  std::vector<Placement> placements_;
  int most_slices_ = 0;
};

}  // namespace smartmig
