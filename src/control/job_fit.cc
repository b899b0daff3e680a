#include "control/job_fit.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"

namespace smartmig {
namespace {

std::string sizes_text(const std::set<int>& sizes) {
  std::vector<std::string> names;
  for (const int size : sizes) names.push_back(fmt::format("{}g", size));
  return join(names, ", ");
}

}  // namespace

Answer<void> check_fits(const Job& job, const Fleet& fleet) {
  if (fleet.kinds_for(job) != 0) return {};
  std::set<int> runs_on, fleet_has;
  const SliceKind* largest = nullptr;   // By memory, of all slices ...
  const SliceKind* possible = nullptr;  // ... and of those that the job has a speed on.
  for (const SliceKind& kind : fleet.kinds()) {
    fleet_has.insert(kind.compute);
    if (!largest || kind.memory_mib > largest->memory_mib) largest = &kind;
    if (job.time_us[kind.size] > 0 && (!possible || kind.memory_mib > possible->memory_mib))
      possible = &kind;
  }
  for (std::size_t size = 0; size < kSizeCount; ++size) {
    if (job.time_us[size] > 0) runs_on.insert(kSizes[size]);
  }
  const auto name = [&](const SliceKind& kind) {
    const Board& board = *fleet.boards()[kind.board];
    return fmt::format("{} of {}", board.profiles[kind.profile].name, board.name);
  };
  if (!possible)
    return tl::unexpected(Refusal{
        400,
        fmt::format("the job runs on no slice of this fleet: its profile has speeds for {}, and "
                    "the fleet's slices are {}",
                    sizes_text(runs_on), sizes_text(fleet_has)),
        "profile"});
  const bool too_large = job.memory_mib > largest->memory_mib;
  return tl::unexpected(Refusal{
      400,
      fmt::format("the job fits no slice of this fleet: it needs {} MiB, and the largest slice "
                  "{}has {} MiB ({})",
                  job.memory_mib, too_large ? "" : "that its profile runs on ",
                  possible->memory_mib, name(*possible)),
      "memory_mib"});
}

}  // namespace smartmig
