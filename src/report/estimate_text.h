// Estimates and changes as tables print them.
#pragma once

#include <string>

#include "study/bootstrap.h"

namespace smartmig {

// "2.17 [2.05, 2.3]", times `scale`; without the interval where there is none.
std::string with_interval(double scale, const Estimate& estimate);
// "[2.05, 2.3]", or nothing where there is no interval.
std::string interval_text(double scale, const Estimate& estimate);

// "+3.1 [+1.9, +4.4]"; a change of exactly nothing has no sign, one that is not known is "-".
std::string change_text(const Change& change);
// Its two parts: "+3.1", and "[+1.9, +4.4]" or nothing.
std::string change_mean_text(const Change& change);
std::string change_interval_text(const Change& change);

}  // namespace smartmig
