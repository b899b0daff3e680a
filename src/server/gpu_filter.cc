#include "server/gpu_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

constexpr std::int64_t kMostGpus = 10'000'000;

bool uuid_has(const std::string& uuid, const std::string& part) {
  return lower_case(uuid).find(part) != std::string::npos;
}

}  // namespace

GpuFilter GpuFilter::read(Query& query) {
  GpuFilter filter;
  filter.from = static_cast<std::size_t>(query.integer("from", 0, kMostGpus, 0));
  filter.limit = static_cast<std::size_t>(query.integer("limit", 1, kMostGpus, 0));
  filter.state = query.text("state");
  filter.layout = query.text("layout");
  filter.find = lower_case(query.text("find"));
  filter.held = query.flag("held", false);
  if (query.has("state") &&
      std::find(kGpuStates.begin(), kGpuStates.end(), filter.state) == kGpuStates.end())
    query.refuse("state", fmt::format("found {}, expected {}", in_quotes(filter.state),
                                      fmt::join(kGpuStates.begin(), kGpuStates.end(), ", ")));
  return filter;
}

bool GpuFilter::takes(const GpuView& gpu) const {
  if (!state.empty() && gpu.state != state) return false;
  if (!layout.empty() && gpu.layout != layout) return false;
  if (held && !gpu.held) return false;
  if (find.empty() || find == std::to_string(gpu.index)) return true;
  if (find.size() < kShortestFind) return false;
  return uuid_has(gpu.uuid, find) ||
         std::any_of(gpu.slices.begin(), gpu.slices.end(),
                     [&](const SliceView& slice) { return uuid_has(slice.uuid, find); });
}

}  // namespace smartmig
