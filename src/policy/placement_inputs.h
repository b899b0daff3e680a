// What a learned placer sees of one choice, the same in training and in use: the job at the head of
// the queue, and either every slice of a fleet whose layouts never change (PlacementInputs), or
// sizes of slices whatever the fleet (size_inputs). docs/model/learning.md lists the inputs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/stepwise_placement.h"

namespace smartmig {

// The course project's fleet, 20 slices, makes 88 inputs. Slices are in the order of their index.
class PlacementInputs {
 public:
  static constexpr int count(int slices) { return kOfJob + kOfSlice * slices; }

  // The slices of the present targets.
  void begin(const View& view);
  int count() const { return count(slice_count()); }
  int slice_count() const { return static_cast<int>(slices_.size()); }
  SliceId slice(int i) const { return slices_[static_cast<std::size_t>(i)]; }
  int size_of(int i) const { return sizes_[static_cast<std::size_t>(i)]; }  // Index into kSizes.
  // Fills the inputs, and for each slice whether the job may take it.
  void observe(const View& view, const StepwisePlacement& at, std::span<float> inputs,
               std::span<std::uint8_t> allowed) const;

 private:
  static constexpr int kOfJob = 28;
  static constexpr int kOfSlice = 3;
  std::vector<SliceId> slices_;
  std::vector<std::uint8_t> sizes_;
};

inline constexpr int kSizeInputs = 41;
// For each size whether the job may take a slice of it. The view must have aggregates.
void observe_sizes(const View& view, const StepwisePlacement& at, std::span<float> inputs,
                   std::span<std::uint8_t> allowed);
// The lowest free slice of that size (index into kSizes) on which the job runs; there must be one.
SliceId slice_of_size(const View& view, KindSet kinds, int size);

}  // namespace smartmig
