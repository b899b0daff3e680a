#include "server/export_yaml.h"

#include "mig/mig_parted.h"

namespace smartmig {
namespace {

// What a GPU has or is about to have; what is on its way out is not in it.
SliceCounts slices_of(const GpuView& gpu) {
  SliceCounts out;
  for (const SliceView& slice : gpu.slices)
    if (slice.state != "destroying") ++out[slice.profile];
  return out;
}

}  // namespace

std::string export_yaml(const FleetView& fleet) {
  std::map<std::uint32_t, SliceCounts> gpus;
  for (const GpuView& gpu : fleet.gpus)
    if (gpu.state != "lost") gpus[gpu.index] = slices_of(gpu);
  return mig_parted_yaml(gpus);
}

}  // namespace smartmig
