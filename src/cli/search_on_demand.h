// `smartmig search-static --on-demand`: the sizes that jobs of each speed profile should ask for.
#pragma once

#include <string>

#include "cli/run_options.h"

namespace smartmig {

struct SearchOnDemandOptions {
  RunOptions run;
  std::string rules;  // "pack,strict,keep": what follows the sizes in the policy's word.
  int train_days = 8;
  std::int64_t budget = 10000;
  bool split_days = false;
};

int run_search_on_demand(const SearchOnDemandOptions& options);

}  // namespace smartmig
