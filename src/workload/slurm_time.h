// Times as Slurm prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace smartmig {

// "2024-03-01T12:34:56", or seconds since 1970 (SLURM_TIME_FORMAT=%s), as microseconds since
// 1970-01-01 00:00 on the clock it was printed with. Years 1970 to 2200.
std::optional<TimeUs> parse_slurm_date(std::string_view text);

// "[DD-]HH:MM:SS[.ffffff]" or "MM:SS[.fff]".
std::optional<TimeUs> parse_slurm_elapsed(std::string_view text);

// "", "Unknown", "None", "N/A": Slurm has no value here.
bool is_slurm_none(std::string_view text);

}  // namespace smartmig
