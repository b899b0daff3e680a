// Published numbers beside ours as a page.
#pragma once

#include <string>

#include "report/page.h"
#include "report/reproduction.h"

namespace smartmig {

std::string reproduction_page(const Reproduction& reproduction, const PageOrigin& origin);

}  // namespace smartmig
