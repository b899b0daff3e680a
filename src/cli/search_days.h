// Days to search on and days to report on, for commands that look for the best of many policies.
#pragma once

#include <optional>
#include <vector>

#include "cli/run_options.h"

namespace smartmig {

// A file that is one run is both, which the output says.
struct SearchDays {
  std::vector<DayTable> train;
  std::vector<DayTable> report;
  std::optional<JobFile> file;
  bool same = false;
};

// The generator's training days are none of its other days; the days of a file are shared out.
Result<SearchDays> read_search_days(const RunOptions& options, bool split_days, int train_days,
                                    const Fleet& fleet);

}  // namespace smartmig
