#include "server/fragmentation.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "mig/board.h"
#include "mig/layout.h"

namespace smartmig {
namespace {

// Slices that cannot be moved out of the way.
SlotSet busy_slots(const GpuView& gpu) {
  SlotSet busy = 0;
  for (const SliceView& slice : gpu.slices)
    if (slice.job != 0 || slice.state == "foreign" || slice.state == "fenced")
      busy |= SlotSet{1} << slice.slot;
  return busy;
}

// Compute slices that as many slices of this profile as fit would use. Slots of one profile are all
// as wide as each other, so taking each that fits, first to last, fits as many as any way does.
int usable(const Board& board, SlotSet busy, std::size_t profile) {
  int used = 0;
  for (std::size_t slot = 0; slot < board.slots.size(); ++slot) {
    if (board.slots[slot].profile != profile || !can_add(board, busy, static_cast<int>(slot)))
      continue;
    busy |= SlotSet{1} << slot;
    used += board.profiles[profile].compute_slices;
  }
  return used;
}

}  // namespace

std::vector<Fragmentation> fragmentation(const FleetView& fleet) {
  // Ten thousand GPUs are busy in a few hundred ways.
  std::map<std::string_view, std::map<SlotSet, int>> counts;
  for (const GpuView& gpu : fleet.gpus)
    if (gpu.state == "up") ++counts[gpu.board][busy_slots(gpu)];

  std::vector<Fragmentation> out;
  for (const auto& [name, ways] : counts) {
    const auto found = BoardTable::shipped().find(name);
    if (!found) continue;
    const Board& board = **found;
    for (std::size_t profile = 0; profile < board.profiles.size(); ++profile) {
      if (board.profiles[profile].kind != ProfileKind::kBase) continue;
      double free = 0, used = 0;
      for (const auto& [busy, count] : ways) {
        const int room = std::max(0, board.compute_slices - compute_slices(board, busy));
        free += room * static_cast<double>(count);
        used += std::min(room, usable(board, busy, profile)) * static_cast<double>(count);
      }
      out.push_back(
          {std::string(name), board.profiles[profile].name, free > 0 ? 1 - used / free : 0});
    }
  }
  return out;
}

}  // namespace smartmig
