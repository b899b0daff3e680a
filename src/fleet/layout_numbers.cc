#include "fleet/layout_numbers.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace smartmig {
namespace {

// In the papers' order.
constexpr std::string_view kPaperLayouts[] = {
    "7",       "4-3",       "4-2-1",   "4-1-1-1",   "3-3",         "3-2-2",
    "3-2-1-1", "3-1-1-1-1", "2-2-2-1", "2-2-1-1-1", "2-1-1-1-1-1", "1-1-1-1-1-1-1"};

}  // namespace

LayoutNumbers::LayoutNumbers(const Board& board) : profile_slots_(board.profile_slots) {
  SM_CHECK(profile_slots_.size() <= 16);
  for (const std::string_view name : kPaperLayouts) {
    const auto layout = parse_layout(board, name);
    if (!layout) {
      layouts_.clear();
      break;
    }
    layouts_.push_back(*layout);
  }
  const std::size_t of_papers = layouts_.size();
  for (const SlotSet layout : layouts_) keys_.push_back(key_of(layout));
  for (const SlotSet layout : smartmig::layouts(board, base_slots(board))) {
    if (number_of(layout) >= 0) continue;
    layouts_.push_back(layout);
    keys_.push_back(key_of(layout));
  }
  choices_ = static_cast<int>(of_papers > 0 ? of_papers : layouts_.size());
}

std::uint64_t LayoutNumbers::key_of(SlotSet set) const {
  std::uint64_t key = 0;
  for (const SlotSet slots : profile_slots_)
    key = key << 4 | static_cast<std::uint64_t>(std::popcount(set & slots));
  return key;
}

}  // namespace smartmig
