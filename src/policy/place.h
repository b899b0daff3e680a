// What placers share: going through the ready jobs in order, and the two ways to choose a slice
// that several use.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "fleet/view.h"

namespace smartmig {

// Where each queue stands while the ready jobs are taken in order over all of them. One at a time
// for a View.
class ReadyOrder {
 public:
  explicit ReadyOrder(View& view) : groups_(view.groups()), cursors_(view.scratch().cursors) {
    cursors_.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) cursors_[g] = groups_[g].queue.begin();
  }

  // The next job that runs on one of `kinds`, and on which kinds it runs; kNone at the end. Groups
  // that run on none of them are passed over as a whole, so a long queue of jobs that fit nowhere
  // costs nothing.
  JobIndex next(KindSet kinds, KindSet& job_kinds) {
    if (groups_.size() == 1) {
      const JobQueue& queue = groups_[0].queue;
      JobQueue::Cursor& cursor = cursors_[0];
      if (!(groups_[0].kinds & kinds) || queue.at_end(cursor)) return kNone;
      job_kinds = groups_[0].kinds;
      const JobIndex job = queue.at(cursor).job;
      queue.advance(cursor);
      return job;
    }
    const JobQueue::Entry* best = nullptr;
    std::size_t best_group = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!(groups_[g].kinds & kinds) || groups_[g].queue.at_end(cursors_[g])) continue;
      const JobQueue::Entry& entry = groups_[g].queue.at(cursors_[g]);
      if (!best || entry < *best) best = &entry, best_group = g;
    }
    if (!best) return kNone;
    job_kinds = groups_[best_group].kinds;
    const JobIndex job = best->job;
    groups_[best_group].queue.advance(cursors_[best_group]);
    return job;
  }

  // The job that is next whatever slices are free; kNone at the end.
  JobIndex peek() const {
    const JobQueue::Entry* best = nullptr;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].queue.at_end(cursors_[g])) continue;
      const JobQueue::Entry& entry = groups_[g].queue.at(cursors_[g]);
      if (!best || entry < *best) best = &entry;
    }
    return best ? best->job : kNone;
  }

 private:
  std::span<const State::Group> groups_;
  std::vector<JobQueue::Cursor>& cursors_;
};

// Gives each ready job, in order, the slice that choose(seen, kinds) names, until jobs or free
// slices run out. `kinds`, never empty, are those that have a free slice and on which the job runs.
template <class Choose>
void place_in_order(View& view, std::vector<Start>& starts, Choose choose) {
  if (view.free().kinds() == 0) return;
  ReadyOrder order(view);
  KindSet job_kinds = 0;
  while (const KindSet free = view.free().kinds()) {
    const JobIndex job = order.next(free, job_kinds);
    if (job == kNone) return;
    const SliceId slice = choose(view.look_at(job), free & job_kinds);
    view.mark_taken(slice);
    starts.push_back({job, slice, view.slice(slice).slot});
  }
}

// The free slice of one of the kinds with the lowest index; there must be one.
inline SliceId lowest_index(const View& view, KindSet kinds) {
  return view.free().first_anywhere(kinds);
}

// On the first GPU, in the order of the buckets, that has a free slice which ends on time, the
// slowest such; else the slice with the earliest end.
inline SliceId slowest_on_time_by_gpu(const View& view, const Seen& seen, KindSet kinds) {
  const FreeSlices& free = view.free();
  const KindSet on_time = seen.on_time(kinds);
  if (on_time == 0) return lowest_index(view, seen.fastest(kinds));
  const SliceId first = free.first(std::countr_zero(free.buckets(on_time)), on_time);
  const GpuIndex gpu = view.fleet().gpu_of(first);
  return free.lowest(gpu, seen.slowest(free.kinds_on(gpu, on_time)));
}

// The smallest (or largest) compute size among the kinds.
inline KindSet with_size(const Fleet& fleet, KindSet kinds, bool smallest) {
  int best = smallest ? 99 : -1;
  KindSet found = 0;
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    const int compute = fleet.kinds()[std::countr_zero(rest)].compute;
    if (smallest ? compute < best : compute > best) best = compute, found = 0;
    if (compute == best) found |= rest & -rest;
  }
  return found;
}

// Over all GPUs the smallest slice that ends on time, else the earliest end.
inline SliceId smallest_on_time(const View& view, const Seen& seen, KindSet kinds) {
  const KindSet on_time = seen.on_time(kinds);
  if (on_time) return lowest_index(view, with_size(view.fleet(), on_time, true));
  return lowest_index(view, seen.fastest(kinds));
}

}  // namespace smartmig
