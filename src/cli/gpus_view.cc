#include "cli/gpus_view.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace smartmig {

BoardView view_board(const Board& board, bool all_profiles) {
  const SlotSet allowed = all_profiles ? all_slots(board) : base_slots(board);
  const std::vector<SlotSet> maximal = maximal_sets(board, allowed);
  BoardView view{&board, all_profiles, legal_sets(board, allowed).size(), maximal.size(), {}};
  for (SlotSet set : layouts(board, allowed)) {
    const auto same = [&](SlotSet other) { return same_layout(board, set, other); };
    const auto placements = std::count_if(maximal.begin(), maximal.end(), same);
    view.layouts.push_back({layout_name(board, set), set, static_cast<int>(placements)});
  }
  return view;
}

ChangeView view_change(const Board& board, SlotSet from, SlotSet to) {
  const SlotSet nearest_to = closest_placement(board, from, 0, to);
  return {from, nearest_to, transition(board, from, nearest_to)};
}

double step_seconds(const Board& board, const Step& step) {
  const Profile& profile = board.profiles[board.slots[step.slot].profile];
  const auto size = static_cast<std::size_t>(size_index(profile.compute_slices));
  return to_s(step.kind == Step::Kind::kCreate ? board.times.create_us[size]
                                               : board.times.destroy_us[size]);
}

std::vector<std::string> assumptions(const Board& board) {
  std::vector<std::string> lines;
  std::vector<std::string> nominal;
  for (const Profile& profile : board.profiles) {
    if (profile.memory_assumed) nominal.push_back(profile.name);
  }
  if (!nominal.empty())
    lines.push_back(fmt::format("memory: nominal size of {}", join(nominal, ", ")));
  if (board.power.assumed) {
    lines.push_back(
        fmt::format("power: the A100-40GB's shape between {} W idle and the limit of {} W",
                    board.power.busy_w[0], board.power.limit_w));
  }
  if (board.times.assumed) lines.push_back(fmt::format("times: {}", board.times.source));
  if (board.speed.confidence == SpeedConfidence::kAssumed)
    lines.emplace_back("speed: no job was measured on slices of this board");
  return lines;
}

}  // namespace smartmig
