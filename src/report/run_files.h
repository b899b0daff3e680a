// The files of one run (docs/formats/run-files.md): every job, every change of layout, every step
// of power, and the fleet over time. Seconds are on the clock of the submit times.
#pragma once

#include <string>
#include <vector>

#include "report/output_folder.h"
#include "sim/engine.h"

namespace smartmig {

// Each of an engine that ran to its end with records on.
std::string jobs_csv(const Engine& engine);
std::string layouts_csv(const Engine& engine);
std::string energy_csv(const Engine& engine);
std::string timeline_csv(const Engine& engine);

// All four, under their names.
std::vector<OutputFile> run_files(const Engine& engine);

}  // namespace smartmig
