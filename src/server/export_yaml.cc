#include "server/export_yaml.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <vector>

namespace smartmig {
namespace {

using Slices = std::map<std::string, int>;  // Count by profile.

// What a GPU has or is about to have; what is on its way out is not in it.
Slices slices_of(const GpuView& gpu) {
  Slices out;
  for (const SliceView& slice : gpu.slices)
    if (slice.state != "destroying") ++out[slice.profile];
  return out;
}

}  // namespace

std::string export_yaml(const FleetView& fleet) {
  std::map<Slices, std::vector<GpuIndex>> groups;
  for (const GpuView& gpu : fleet.gpus)
    if (gpu.state != "lost") groups[slices_of(gpu)].push_back(gpu.index);

  std::string out = "version: v1\nmig-configs:\n  smartmig:\n";
  for (const auto& [slices, gpus] : groups) {
    fmt::format_to(std::back_inserter(out),
                   "    - devices: [{}]\n      mig-enabled: true\n      mig-devices:{}\n",
                   fmt::join(gpus, ", "), slices.empty() ? " {}" : "");
    for (const auto& [profile, count] : slices)
      fmt::format_to(std::back_inserter(out), "        \"{}\": {}\n", profile, count);
  }
  if (groups.empty()) out.insert(out.size() - 1, " []");
  return out;
}

}  // namespace smartmig
