#include "server/fleet_groups.h"

#include <algorithm>
#include <unordered_map>

namespace smartmig {
namespace {

void add_to_group(const GpuView& gpu, GpuGroup& group) {
  ++group.gpus;
  group.up += gpu.state == "up";
  group.cordoned += gpu.state == "cordoned";
  group.draining += gpu.state == "draining";
  group.fenced += gpu.state == "fenced";
  group.lost += gpu.state == "lost";
  group.held += gpu.held;
  group.changing += gpu.layout != gpu.target;
  group.memory_slices += gpu.memory_slices;
  group.power_w += gpu.power_w;
  bool foreign = false;
  for (const SliceView& slice : gpu.slices) {
    ++group.slices;
    foreign = foreign || slice.state == "foreign";
    if (slice.job == 0) continue;
    ++group.busy_slices;
    group.busy_memory += slice.width;
  }
  group.foreign += foreign;
}

}  // namespace

std::vector<GpuGroup> group_gpus(const FleetView& fleet, std::size_t size) {
  std::vector<GpuGroup> groups;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i) {
    if (i % size == 0) groups.emplace_back().first = i;
    add_to_group(fleet.gpus[i], groups.back());
  }
  return groups;
}

std::vector<LayoutCount> count_layouts(const FleetView& fleet) {
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const GpuView& gpu : fleet.gpus) ++counts[gpu.layout];
  std::vector<LayoutCount> out;
  for (const auto& [layout, gpus] : counts) out.push_back({std::string(layout), gpus});
  std::sort(out.begin(), out.end(), [](const LayoutCount& a, const LayoutCount& b) {
    return a.gpus != b.gpus ? a.gpus > b.gpus : a.layout < b.layout;
  });
  return out;
}

void write_group(JsonWriter& json, const GpuGroup& group) {
  json.begin_object();
  json.field("first", static_cast<std::int64_t>(group.first));
  json.field("gpus", group.gpus);
  json.field("up", group.up);
  json.field("cordoned", group.cordoned);
  json.field("draining", group.draining);
  json.field("fenced", group.fenced);
  json.field("lost", group.lost);
  json.field("held", group.held);
  json.field("changing", group.changing);
  json.field("foreign", group.foreign);
  json.field("slices", group.slices);
  json.field("busy_slices", group.busy_slices);
  json.field("memory_slices", group.memory_slices);
  json.field("busy_memory", group.busy_memory);
  json.field("power_w", group.power_w);
  json.end_object();
}

}  // namespace smartmig
