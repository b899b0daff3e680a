// The GPUs that a simulation of the present has: all of a small fleet, a sample of a large one, so
// that looking ahead costs the same at any size of fleet. A sample has every board of the fleet, in
// proportion, and takes GPUs in groups of kGroup neighbours, so that layouts which alternate from
// GPU to GPU are all there.
#pragma once

#include <vector>

#include "base/random.h"
#include "fleet/fleet.h"

namespace smartmig {

class FleetSample {
 public:
  static constexpr std::size_t kGroup = 4;

  FleetSample(const Fleet& fleet, std::size_t most_gpus);

  const Fleet& fleet() const { return sample_; }
  // The sample's compute slices over those of the fleet.
  double share() const { return share_; }
  // Which GPUs the sample has from now on. O(GPUs).
  void draw(Random& random);
  // The GPU's number in the sample, or kNone.
  GpuIndex in_sample(GpuIndex gpu) const { return in_sample_[gpu]; }
  GpuIndex in_fleet(GpuIndex gpu) const { return in_fleet_[gpu]; }

  // The GPU's place among those of its board.
  static std::vector<std::size_t> places_by_board(const Fleet& fleet);

 private:
  struct OfBoard {
    std::vector<GpuIndex> gpus;  // All GPUs of this board, by their numbers in the fleet.
    std::size_t first = 0;       // The board's first GPU in the sample,
    std::size_t count = 0;       // and how many GPUs the sample has of it.
  };

  std::vector<OfBoard> boards_;
  std::vector<GpuIndex> in_fleet_;   // By number in the sample.
  std::vector<GpuIndex> in_sample_;  // By number in the fleet.
  Fleet sample_;
  double share_ = 1;
};

}  // namespace smartmig
