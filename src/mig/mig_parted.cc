#include "mig/mig_parted.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <vector>

namespace smartmig {

SliceCounts slice_counts(const Board& board, SlotSet set) {
  SliceCounts counts;
  for (; set; set &= set - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(set));
    ++counts[board.profiles[board.slots[slot].profile].name];
  }
  return counts;
}

std::string mig_parted_yaml(const std::map<std::uint32_t, SliceCounts>& gpus) {
  std::map<SliceCounts, std::vector<std::uint32_t>> groups;
  for (const auto& [gpu, slices] : gpus) groups[slices].push_back(gpu);

  std::string out = "version: v1\nmig-configs:\n  smartmig:\n";
  for (const auto& [slices, indices] : groups) {
    fmt::format_to(std::back_inserter(out),
                   "    - devices: [{}]\n      mig-enabled: true\n      mig-devices:{}\n",
                   fmt::join(indices, ", "), slices.empty() ? " {}" : "");
    for (const auto& [profile, count] : slices)
      fmt::format_to(std::back_inserter(out), "        \"{}\": {}\n", profile, count);
  }
  if (groups.empty()) out.insert(out.size() - 1, " []");
  return out;
}

}  // namespace smartmig
