// Which GPUs fail and return, and when: a CSV file `time_s,gpu,event` (docs/formats/gpu-events.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/engine.h"

namespace smartmig {

// In order of time; rows of one time keep the order of the file. Every error names file, line and
// column.
Result<std::vector<GpuEvent>> parse_gpu_events(std::string_view text, const std::string& name,
                                               const Fleet& fleet);
Result<std::vector<GpuEvent>> read_gpu_events(const std::string& path, const Fleet& fleet);

}  // namespace smartmig
