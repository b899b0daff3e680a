#include "policy/policy.h"

namespace smartmig {

void decide_layouts(Policy& policy, View& view, Decision& decision) {
  decision.clear();
  policy.partitioner->decide(view, decision);
}

void decide_placement(Policy& policy, View& view, Decision& decision) {
  decision.clear();
  Placer* placer = policy.present_placer();
  if (!placer) return;
  placer->decide(view, decision.starts);
  finish_placement(view, decision);
}

void finish_placement(View& view, Decision& decision) {
  if (!view.everything_ready()) return;
  view.put_back(decision.starts);
  decision.whole = true;
}

void aim_at(const View& view, GpuIndex gpu, SlotSet layout, Decision& decision) {
  const Board& board = view.fleet().board(gpu);
  const SlotSet target = view.gpu(gpu).target;
  if (target == layout || same_layout(board, target, layout)) return;
  decision.repartitions.push_back(
      {gpu, closest_placement(board, target, view.slots_in_use(gpu), layout)});
}

}  // namespace smartmig
