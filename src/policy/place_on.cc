#include "policy/place_on.h"

#include <algorithm>

#include "policy/place.h"

namespace smartmig {

void place_on(View& view, std::span<const SliceId> free_slices, std::vector<Start>& starts) {
  std::vector<std::vector<SliceId>> by_kind(view.fleet().kinds().size());
  KindSet kinds = 0;
  for (const SliceId slice : free_slices) {
    by_kind[view.slice(slice).kind].push_back(slice);
    kinds |= KindSet{1} << view.slice(slice).kind;
  }
  for (auto& slices : by_kind) std::sort(slices.rbegin(), slices.rend());  // The lowest is last.
  ReadyOrder order(view);
  KindSet job_kinds = 0;
  while (kinds) {
    const JobIndex job = order.next(kinds, job_kinds);
    if (job == kNone) return;
    const Seen seen = view.look_at(job);
    const KindSet fitting = kinds & job_kinds;
    const KindSet on_time = seen.on_time(fitting);
    KindSet best = on_time ? with_size(view.fleet(), on_time, true) : seen.fastest(fitting);
    int kind = std::countr_zero(best);
    for (; best; best &= best - 1) {
      const int other = std::countr_zero(best);
      if (by_kind[other].back() < by_kind[kind].back()) kind = other;
    }
    const SliceId slice = by_kind[kind].back();
    by_kind[kind].pop_back();
    if (by_kind[kind].empty()) kinds &= ~(KindSet{1} << kind);
    view.mark_taken(slice);
    starts.push_back({job, slice, view.slice(slice).slot});
  }
}

}  // namespace smartmig
