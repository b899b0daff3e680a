// `compare --sweep`: the same comparison at every point of a grid of options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/comparison_run.h"
#include "study/sweep.h"

namespace smartmig {

struct SweepOptions {
  std::vector<std::string> axes;  // "gpus=4..16"
  std::string target;             // "late_pct=5"; "": none.
};
void add_sweep_options(CLI::App& app, SweepOptions& options);

// Read and checked at every point; nothing has run.
struct PreparedSweep {
  std::vector<SweepAxis> axes;
  std::optional<SweepTarget> target;
  std::vector<CompareOptions> points;  // As grid(axes).
};
// Errors are bad input.
Result<PreparedSweep> prepare(const CompareOptions& options, const SweepOptions& sweep);
Result<Sweep> run(const PreparedSweep& prepared);

}  // namespace smartmig
