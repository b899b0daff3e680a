// Estimates and changes as tables print them.
#pragma once

#include <string>
#include <string_view>

#include "study/bootstrap.h"

namespace smartmig {

// Four digits, large numbers in full: "2.17", "18900" and not "1.89e+04".
std::string number_text(double value);

// "2.17 [2.05, 2.3]", times `scale`; without the interval where there is none.
std::string with_interval(double scale, const Estimate& estimate);
// "[2.05, 2.3]", or nothing where there is no interval.
std::string interval_text(double scale, const Estimate& estimate);

// "+3.1 [+1.9, +4.4]"; a change of exactly nothing has no sign, one that is not known is "-".
std::string change_text(const Change& change);
// Its two parts: "+3.1", and "[+1.9, +4.4]" or nothing.
std::string change_mean_text(const Change& change);
std::string change_interval_text(const Change& change);

// "12.3 % [10.1, 14.2] below"; "equal to" for no change at all. The change must be known.
std::string distance_text(const Change& change);

// The head of a column of costs: "cost" or "cost, EUR".
std::string cost_head(const std::string& currency);

// The row of what a trace says of its own jobs, which no policy decided.
inline constexpr std::string_view kAsItWas = "as it was";

}  // namespace smartmig
