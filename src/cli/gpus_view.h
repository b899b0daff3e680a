// What `smartmig gpus` shows of one board, and its two forms: text and JSON. Private to the
// command.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mig/layout.h"

namespace smartmig {

// A multiset of slices and in how many maximal placements it comes.
struct LayoutRow {
  std::string name;
  SlotSet canonical = 0;
  int placements = 0;
};

struct BoardView {
  const Board* board = nullptr;
  bool all_profiles = false;
  std::size_t legal_sets = 0;
  std::size_t maximal_placements = 0;
  std::vector<LayoutRow> layouts;
};

// A change of layout: from the canonical placement of one to the nearest placement of the other.
struct ChangeView {
  SlotSet from = 0;
  SlotSet to = 0;
  Transition transition;
};

BoardView view_board(const Board& board, bool all_profiles);
ChangeView view_change(const Board& board, SlotSet from, SlotSet to);
// Seconds of one step, by the size of its slice (`real` setting).
double step_seconds(const Board& board, const Step& step);
// One line for each property of the board that was not measured.
std::vector<std::string> assumptions(const Board& board);

std::string boards_text(const std::vector<BoardView>& views);
std::string board_text(const BoardView& view);
std::string layouts_text(const BoardView& view);
std::string change_text(const Board& board, const ChangeView& change);
// "|4-----------|2----|1-|  |": the memory slices of a GPU and what stands on them.
std::string picture(const Board& board, SlotSet set);

nlohmann::ordered_json boards_json(const std::vector<BoardView>& views);
nlohmann::ordered_json board_json(const BoardView& view);
nlohmann::ordered_json change_json(const Board& board, const ChangeView& change);

}  // namespace smartmig
