// The fleet, its GPUs and slices, and what is planned for them, as JSON.
#pragma once

#include "server/backend.h"
#include "server/json_writer.h"

namespace smartmig {

// Fields of the open object, without the GPUs.
void write_fleet_fields(JsonWriter& json, const FleetSummary& fleet);
void write_gpu(JsonWriter& json, const GpuView& gpu);
void write_gpu_fields(JsonWriter& json, const GpuView& gpu);
void write_plan_fields(JsonWriter& json, const Plan& plan);

}  // namespace smartmig
