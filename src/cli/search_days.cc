#include "cli/search_days.h"

#include <utility>

#include "workload/generator.h"

namespace smartmig {
namespace {

// The days of a file in turns, so that both halves see the whole span: even ones to search on, as
// far as asked for.
void share_out(const std::vector<DayTable>& days, std::size_t train_days, SearchDays& split) {
  for (std::size_t day = 0; day < days.size(); ++day) {
    const bool train = day % 2 == 0 && split.train.size() < train_days;
    (train ? split.train : split.report).push_back(days[day]);
  }
  if (split.report.empty()) {
    split.report = split.train;
    split.same = true;
  }
}

}  // namespace

Result<SearchDays> read_search_days(const RunOptions& options, bool split_days, int train_days,
                                    const Fleet& fleet) {
  if (train_days < 1 || train_days > 10'000)
    return fail("--train-days: found {}, expected 1 to 10000", train_days);
  const auto days = read_days(options, split_days, fleet);
  if (!days) return pass_on(days);
  SearchDays split;
  split.file = days->file;
  std::vector<DayTable> tables;
  const auto take = [&](std::size_t day) -> Result<void> {
    auto table = days->day(day);
    if (!table) return pass_on(table);
    tables.push_back(std::move(*table));
    return {};
  };
  for (std::size_t day = 0; day < days->count; ++day) {
    if (const auto taken = take(day); !taken) return pass_on(taken);
  }
  const auto wanted = static_cast<std::size_t>(train_days);
  if (!options.workload.jobs.empty()) {
    share_out(tables, wanted, split);
    return split;
  }
  split.report = std::exchange(tables, {});
  for (std::size_t day = 0; day < wanted; ++day) {
    if (const auto taken = take(kTrainingDays + day); !taken) return pass_on(taken);
  }
  split.train = std::move(tables);
  return split;
}

}  // namespace smartmig
