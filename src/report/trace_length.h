// How long a trace is, how long each policy's run of it takes, and for how long boards are charged:
// the words that tables and pages share.
#pragma once

#include <string>

namespace smartmig {

// Heads the column of Metrics::makespan_s, in hours.
inline constexpr const char* kLengthColumn = "length, h";
std::string length_text(double length_s);  // In hours.

// What a reader must know of the energy on a trace, as sentences. `runs`: independent runs of which
// span_s is the mean.
std::string charged_text(double span_s, std::size_t runs);

}  // namespace smartmig
