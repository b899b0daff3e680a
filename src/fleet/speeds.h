// On which board a trace's times were taken, and how much faster or slower other boards run the
// same jobs: the options --trace-board and --speed-factor, and what a reader must know of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// The fleet for jobs whose times were taken on slices of `trace_board` ("": A100-40GB). Each of
// `factors` is BOARD=X: that board of the fleet divides every time by X, whatever its data say.
// Errors name the option.
Result<Fleet> fleet_with_speeds(const Fleet& fleet, const std::string& trace_board,
                                std::span<const std::string> factors);

std::string_view to_string(SpeedConfidence confidence);
// "2.2", or "2 (1g), 2.5 (2g)" where sizes differ; of the sizes that the board has.
std::string factor_text(const Board& board);

// A line for each board of the fleet that does not run jobs at the times of the table: by what it
// divides them, how sure that is and where it comes from. Empty for A100-40GB alone.
std::vector<std::string> speed_assumptions(const Fleet& fleet);

}  // namespace smartmig
