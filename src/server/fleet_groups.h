// A large fleet in short: GPUs by layout, and neighbours summed in groups, for a map that fits a
// screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/backend.h"
#include "server/json_writer.h"

namespace smartmig {

struct GpuGroup {
  std::size_t first = 0;  // Index of its first GPU.
  std::int64_t gpus = 0;
  std::int64_t up = 0, cordoned = 0, draining = 0, fenced = 0, lost = 0;
  std::int64_t held = 0;           // With a layout that an operator holds.
  std::int64_t changing = 0;       // With another layout on its way.
  std::int64_t foreign = 0;        // With slices that are not ours.
  std::int64_t slices = 0;         // That are there.
  std::int64_t busy_slices = 0;    // With a job.
  std::int64_t memory_slices = 0;  // Of the boards.
  std::int64_t busy_memory = 0;    // Under a job.
  double power_w = 0;
};

struct LayoutCount {
  std::string layout;
  std::int64_t gpus = 0;
};

// Groups of `size` GPUs each, the last one of those that are left.
std::vector<GpuGroup> group_gpus(const FleetView& fleet, std::size_t size);
// The most frequent first, then by name.
std::vector<LayoutCount> count_layouts(const FleetView& fleet);

void write_group(JsonWriter& json, const GpuGroup& group);

}  // namespace smartmig
