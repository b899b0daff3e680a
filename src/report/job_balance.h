// What of a file of jobs a result is about, and what is left out of it: for a table's foot, JSON
// and pages.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/page.h"
#include "workload/losses.h"

namespace smartmig {

// One line each for what is kept, dropped and unfit; the last two only where there is any. Each
// names the option that would change it.
struct BalanceLine {
  std::string what;  // "kept"
  std::string text;
};
std::vector<BalanceLine> balance_lines(const JobBalance& balance);
// The same as sentences.
std::string balance_text(const JobBalance& balance);

// Adds `kept`, `dropped` and `unfit` to an object, each {rows, jobs, gpu_hours, by_reason}.
void add_balance(nlohmann::ordered_json& object, const JobBalance& balance);

PageTable balance_table(const JobBalance& balance);

}  // namespace smartmig
