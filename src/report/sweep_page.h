// A sweep as a page: its curves with the knee, the answer, and every number.
#pragma once

#include <optional>
#include <string>

#include "report/page.h"
#include "study/sweep.h"

namespace smartmig {

std::string sweep_page(const Sweep& sweep, const std::optional<SweepTarget>& target,
                       const PageOrigin& origin);

}  // namespace smartmig
