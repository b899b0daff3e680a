// Lengths of time and sizes of memory as people write them on the command line: "90s", "10m", "2h",
// "1-02:00:00" or plain seconds; "8G", "512M" or plain MiB.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace smartmig {

// In seconds, 0 to kMaxSeconds. Accepted: a number of seconds (90, 0.5); numbers with the units d,
// h, m and s, each at most once and the largest first (2h, 1h30m); and Slurm's DAYS-HOURS,
// DAYS-HOURS:MINUTES, DAYS-HOURS:MINUTES:SECONDS, HOURS:MINUTES:SECONDS and MINUTES:SECONDS.
Result<double> parse_duration_s(std::string_view text);

// In MiB, rounded up. Accepted: a number of MiB (8192), or a number with K, M, G or T, with or
// without "B" or "iB"; all are powers of 1,024.
Result<std::int64_t> parse_size_mib(std::string_view text);

}  // namespace smartmig
