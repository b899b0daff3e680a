#include "study/run_days.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <new>

#include "base/thread_pool.h"

namespace smartmig {
namespace {

// Made by the first run on the day, let go by the last.
struct SharedDay {
  std::once_flag once;
  DayTable table;
  std::optional<Error> error;
  std::atomic<std::size_t> runs_left{0};
};

void make_day(SharedDay& shared, const DaySource& source, std::size_t day) try {
  auto table = source(day);
  if (table) {
    shared.table = std::move(*table);
  } else {
    shared.error = table.error();
  }
} catch (const std::bad_alloc&) {
  shared.error = Error{"out of memory"};
}

}  // namespace

std::vector<DayRun> run_days(const RunSettings& settings, std::span<const Policy> policies,
                             const DaysToRun& days) {
  std::vector<SharedDay> shared(days.count);
  for (SharedDay& day : shared) day.runs_left = policies.size();
  std::vector<DayRun> runs(days.count * policies.size());
  // Runs are handed out in order, so every run before one that failed was begun and says so itself:
  // what is skipped after it cannot change which error is the first.
  std::atomic<bool> failed{false};
  parallel_for(runs.size(), days.threads, [&](std::size_t i) {
    SharedDay& own = shared[i / policies.size()];
    const std::size_t day = days.first + i / policies.size();
    const std::size_t policy = i % policies.size();
    RunWatch watch_run;
    if (days.watch) watch_run = [&](const Engine& engine) { days.watch(policy, day, engine); };
    if (days.all || !failed) {
      std::call_once(own.once, [&] { make_day(own, days.source, day); });
      if (own.error) {
        runs[i].error = Error{fmt::format("day {}: {}", day, own.error->message)};
      } else if (auto metrics = run_day(settings, policies[policy], *own.table, day, watch_run)) {
        runs[i].metrics = std::move(*metrics);
      } else {
        runs[i].error = Error{
            fmt::format("{}, day {}: {}", policies[policy].name, day, metrics.error().message)};
      }
      if (runs[i].error) failed = true;
    }
    if (--own.runs_left == 0) own.table.reset();
    if (days.progress) days.progress->step();
  });
  return runs;
}

}  // namespace smartmig
