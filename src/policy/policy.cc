#include "policy/policy.h"

namespace smartmig {

void decide_layouts(Policy& policy, View& view, Decision& decision) {
  decision.clear();
  policy.partitioner->decide(view, decision);
}

void reduce_to_changes(View& view, Decision& decision) {
  const auto slice_of = [&](const Start& start) {
    return view.fleet().slice_at(start.gpu, view.fleet().board(start.gpu).slots[start.slot].start);
  };
  // A slice to be made may begin where another one is now: only the same slot is the same slice.
  const auto stays = [&](const Start& start, const SliceState& slice) {
    return slice.job == start.job && slice.slot == start.slot;
  };
  std::vector<JobIndex>& keeps = view.scratch().job_on_slice;
  keeps.resize(view.fleet().slice_count(), kNone);
  for (const Start& start : decision.starts) {
    const SliceId id = slice_of(start);
    if (stays(start, view.slice(id))) keeps[id] = start.job;
  }
  for (const SliceId id : view.running()) {
    if (keeps[id] == kNone) decision.stops.push_back(view.slice(id).job);
  }
  std::size_t kept = 0;
  for (const Start& start : decision.starts) {
    const SliceId id = slice_of(start);
    if (keeps[id] == start.job) {
      keeps[id] = kNone;
    } else {
      decision.starts[kept++] = start;
    }
  }
  decision.starts.resize(kept);
}

void decide_placement(Policy& policy, View& view, Decision& decision) {
  decision.clear();
  if (!policy.placer) return;
  policy.placer->decide(view, decision.starts);
  if (view.everything_ready()) {
    view.put_back_marks();
    reduce_to_changes(view, decision);
  } else {
    view.keep_marks();
  }
}

void aim_at(const View& view, GpuIndex gpu, SlotSet layout, Decision& decision) {
  const Board& board = view.fleet().board(gpu);
  const SlotSet target = view.gpu(gpu).target;
  if (target == layout || same_layout(board, target, layout)) return;
  decision.repartitions.push_back({gpu, closest_placement(board, target, view.slots_in_use(gpu), layout)});
}

}  // namespace smartmig
