#include "foresight/fleet_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smartmig {

FleetSample::FleetSample(const Fleet& fleet, std::size_t most_gpus)
    : boards_(fleet.boards().size()),
      in_fleet_(fleet.gpu_count()),
      in_sample_(fleet.gpu_count()),
      sample_(fleet) {
  std::iota(in_fleet_.begin(), in_fleet_.end(), 0);
  std::iota(in_sample_.begin(), in_sample_.end(), 0);
  if (fleet.gpu_count() <= most_gpus) return;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    boards_[fleet.board_index(gpu)].gpus.push_back(gpu);
  in_fleet_.clear();
  for (OfBoard& board : boards_) {
    const double wanted = static_cast<double>(most_gpus * board.gpus.size()) / fleet.gpu_count();
    const auto groups = std::max<std::size_t>(1, static_cast<std::size_t>(wanted / kGroup + 0.5));
    board.first = in_fleet_.size();
    board.count = std::min(board.gpus.size(), groups * kGroup);
    for (std::size_t i = 0; i < board.count; ++i) in_fleet_.push_back(board.gpus[i]);
  }
  sample_ = fleet.subset(in_fleet_);
  share_ = static_cast<double>(sample_.compute_slices()) / fleet.compute_slices();
}

void FleetSample::draw(Random& random) {
  if (share_ == 1) return;
  std::ranges::fill(in_sample_, kNone);
  for (const OfBoard& board : boards_) {
    // Groups at equal distances from a place that is drawn; a last one that is not whole is left
    // out.
    const std::size_t all = std::max<std::size_t>(1, board.gpus.size() / kGroup);
    const std::size_t groups = std::max<std::size_t>(1, board.count / kGroup);
    const double step = static_cast<double>(all) / static_cast<double>(groups);
    const double offset = random.uniform() * step;
    for (std::size_t i = 0; i < board.count; ++i) {
      const auto group = static_cast<std::size_t>(offset + static_cast<double>(i / kGroup) * step);
      const GpuIndex gpu = board.gpus[std::min(group, all - 1) * kGroup + i % kGroup];
      in_fleet_[board.first + i] = gpu;
      in_sample_[gpu] = static_cast<GpuIndex>(board.first + i);
    }
  }
}

std::vector<std::size_t> FleetSample::places_by_board(const Fleet& fleet) {
  std::vector<std::size_t> seen(fleet.boards().size(), 0);
  std::vector<std::size_t> places;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    places.push_back(seen[fleet.board_index(gpu)]++);
  return places;
}

}  // namespace smartmig
