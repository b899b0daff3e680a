// The pictures of runs that all reports share: how late jobs were, where the energy went, which
// layouts stood at which hour, and how a policy learned.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/chart.h"
#include "report/page.h"
#include "study/run_shapes.h"

namespace smartmig {

// All runs of one policy.
struct PolicyShapes {
  std::string policy;
  std::size_t days = 1;  // How many runs the shapes are a sum of.
  RunShapes shapes;
};

// The share of jobs that were late by more than a time, against that time.
LineChart tardiness_chart(std::span<const PolicyShapes> policies);
BarChart energy_by_kind_chart(std::span<const PolicyShapes> policies);
// Columns for one policy, lines for several.
void add_energy_by_gpu(Page& page, std::span<const PolicyShapes> policies);
// One chart for each policy, a layout having one colour in all.
std::vector<ColumnChart> layout_charts(std::span<const PolicyShapes> policies);
// Of a CSV file that `train --curve` wrote. The error names the file and what is wrong with it.
Result<LineChart> learning_curve_chart(std::string_view csv, const std::string& name);

}  // namespace smartmig
