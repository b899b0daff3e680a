// A sweep as a page: the decision, its curves with the knee, every number, and what they rest on.
// `context` is that of the first point.
#pragma once

#include <optional>
#include <string>

#include "report/report_page.h"
#include "study/sweep.h"

namespace smartmig {

std::string sweep_page(const Sweep& sweep, const std::optional<SweepTarget>& target,
                       const ReportContext& context);

}  // namespace smartmig
