#include "study/layout_menu.h"

#include <algorithm>

namespace smartmig {

LayoutMenu::LayoutMenu(const Fleet& fleet)
    : fleet_(&fleet), layouts_(fleet.boards().size()), gpus_(fleet.boards().size()) {
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    gpus_[fleet.board_index(gpu)].push_back(gpu);
  for (std::size_t b = 0; b < layouts_.size(); ++b) {
    const Board& board = *fleet.boards()[b];
    layouts_[b] = layouts(board, base_slots(board));
    sort_menu(static_cast<std::uint8_t>(b));
  }
}

void LayoutMenu::sort_menu(std::uint8_t board) {
  const Board& on = *fleet_->boards()[board];
  // Fewer slices for the same compute are larger ones; cross-multiplied, so that the order is
  // exact.
  std::stable_sort(layouts_[board].begin(), layouts_[board].end(), [&](SlotSet a, SlotSet b) {
    return compute_slices(on, a) * slice_count(b) > compute_slices(on, b) * slice_count(a);
  });
}

void LayoutMenu::put_in_order(LayoutChoice& choice) const {
  LayoutChoice of_board;
  for (const auto& gpus : gpus_) {
    of_board.clear();
    for (const GpuIndex gpu : gpus) of_board.push_back(choice[gpu]);
    std::sort(of_board.begin(), of_board.end());
    for (std::size_t i = 0; i < gpus.size(); ++i) choice[gpus[i]] = of_board[i];
  }
}

Result<LayoutChoice> LayoutMenu::parse(std::string_view list) {
  const auto sets = parse_layout_list(list, *fleet_);
  if (!sets) return pass_on(sets);
  const auto same = [&](GpuIndex gpu) {
    return [this, gpu, set = (*sets)[gpu]](SlotSet known) {
      return same_layout(fleet_->board(gpu), known, set);
    };
  };
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const std::uint8_t board = fleet_->board_index(gpu);
    auto& menu = layouts_[board];
    if (std::any_of(menu.begin(), menu.end(), same(gpu))) continue;
    menu.push_back((*sets)[gpu]);
    sort_menu(board);
  }
  LayoutChoice choice;
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const auto& menu = layouts_[fleet_->board_index(gpu)];
    const auto at = std::find_if(menu.begin(), menu.end(), same(gpu));
    choice.push_back(static_cast<LayoutIndex>(at - menu.begin()));
  }
  put_in_order(choice);
  return choice;
}

std::size_t LayoutMenu::longest() const {
  std::size_t most = 0;
  for (const auto& menu : layouts_) most = std::max(most, menu.size());
  return most;
}

LayoutChoice LayoutMenu::all_alike(std::size_t k) const {
  LayoutChoice choice;
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const std::size_t last = layouts_[fleet_->board_index(gpu)].size() - 1;
    choice.push_back(static_cast<LayoutIndex>(std::min(k, last)));
  }
  return choice;
}

std::string LayoutMenu::name(const LayoutChoice& choice) const {
  std::string text;
  std::string present;
  std::size_t times = 0;
  const auto finish = [&] {
    if (times == 0) return;
    if (!text.empty()) text += ',';
    text += times > 1 ? fmt::format("{}*{}", present, times) : present;
  };
  for (GpuIndex gpu = 0; gpu < choice.size(); ++gpu) {
    const std::string next =
        layout_name(fleet_->board(gpu), layouts_[fleet_->board_index(gpu)][choice[gpu]]);
    if (next != present) {
      finish();
      present = next;
      times = 0;
    }
    ++times;
  }
  finish();
  return text;
}

LayoutChoice LayoutMenu::moved(const LayoutChoice& choice, std::uint8_t board, LayoutIndex from,
                               LayoutIndex to, std::size_t moved) const {
  LayoutChoice next = choice;
  for (const GpuIndex gpu : gpus_[board]) {
    if (moved == 0) break;
    if (next[gpu] != from) continue;
    next[gpu] = to;
    --moved;
  }
  put_in_order(next);
  return next;
}

std::size_t LayoutMenu::uses(const LayoutChoice& choice, std::uint8_t board,
                             LayoutIndex layout) const {
  const auto& gpus = gpus_[board];
  return static_cast<std::size_t>(
      std::count_if(gpus.begin(), gpus.end(), [&](GpuIndex gpu) { return choice[gpu] == layout; }));
}

}  // namespace smartmig
