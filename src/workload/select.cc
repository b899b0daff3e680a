#include "workload/select.h"

#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

Result<std::string TraceJob::*> find_field(const Trace& trace, const std::string& column,
                                           const std::string& name) {
  std::vector<std::string> known = {"class"};
  std::string TraceJob::*field = column == "class" ? &TraceJob::label : nullptr;
  for (const SelectorColumn& selector : kSelectorColumns) {
    known.emplace_back(selector.name);
    if (column == selector.name) field = selector.field;
  }
  if (!field) {
    return fail("--where: found {}, expected one of {}{}", in_quotes(column), join(known, ", "),
                nearest(column, known).empty() ? "" : suggestion(column, known));
  }
  const auto has = [&](const TraceJob& job) { return !(job.*field).empty(); };
  if (!std::ranges::any_of(trace.jobs, has))
    return fail("--where: found {}, but {} does not say it of any job", in_quotes(column), name);
  return field;
}

}  // namespace

Result<Selector> parse_selector(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    return fail("--where: found {}, expected COLUMN=VALUE, as in user=alice or partition=a100,h100",
                in_quotes(text));
  }
  Selector selector{std::string(text.substr(0, equals)), {}};
  for (const std::string_view value : split(text.substr(equals + 1), ','))
    selector.values.emplace_back(value);
  return selector;
}

bool selects(const Selector& selector, std::string_view value) {
  return std::ranges::find(selector.values, value) != selector.values.end();
}

Result<void> select_jobs(Trace& trace, std::span<const Selector> where, const std::string& name) {
  for (const Selector& selector : where) {
    const auto field = find_field(trace, selector.column, name);
    if (!field) return pass_on(field);
    std::vector<TraceJob> selected;
    for (TraceJob& job : trace.jobs) {
      if (selects(selector, job.**field)) {
        selected.push_back(std::move(job));
      } else {
        trace.report.drop(LossReason::kNotSelected, job);
      }
    }
    trace.jobs = std::move(selected);
    if (trace.jobs.empty()) {
      return fail("{}: --where {} selects no job, expected a value that stands there", name,
                  in_quotes(fmt::format("{}={}", selector.column, join(selector.values, ","))));
    }
  }
  return {};
}

}  // namespace smartmig
