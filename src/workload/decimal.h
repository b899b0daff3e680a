// Times as decimal text: seconds in, whole microseconds out, and back, without loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace smartmig {

// "12.5" -> 12'500'000: the microsecond nearest to the decimal, for 0 <= seconds <= kMaxSeconds;
// nothing for any other text (negative, blank, "nan", out of range). Texts of at most 16 digits, 6
// of them after the point, are read exactly; longer ones and exponents go through a double.
std::optional<TimeUs> parse_seconds(std::string_view text);

// The shortest decimal that parse_seconds reads back as `us`; us >= 0.
void append_seconds(std::string& out, TimeUs us);

}  // namespace smartmig
