// `--where user=alice,bob`: only the jobs whose column has one of these values.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/trace.h"

namespace smartmig {

struct Selector {
  std::string column;
  std::vector<std::string> values;  // Any of them will do.
};
// "COLUMN=VALUE[,VALUE...]".
Result<Selector> parse_selector(std::string_view text);
bool selects(const Selector& selector, std::string_view value);

// What a trace may say of who submitted a job and where to; a job table made of the trace has the
// same in columns of these names.
struct SelectorColumn {
  std::string_view name;
  std::string TraceJob::*field;
};
inline constexpr std::array<SelectorColumn, 3> kSelectorColumns = {{
    {"user", &TraceJob::user},
    {"account", &TraceJob::account},
    {"partition", &TraceJob::partition},
}};

// Leaves the other jobs out and counts them in the trace's report. A trace can also be selected by
// `class`, the label of its jobs. The error: no job of the trace has such a column.
Result<void> select_jobs(Trace& trace, std::span<const Selector> where, const std::string& name);

}  // namespace smartmig
