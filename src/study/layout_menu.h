// Fixed layouts of a whole fleet, as the search for good ones sees them. GPUs of one board are
// interchangeable but for ties of index, so a choice is a multiset of layouts for each board; it is
// written in one order, GPUs of larger mean slice size first, and equal choices are equal values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// For each GPU of the fleet an index into its board's layouts. Ascending over the GPUs of a board.
using LayoutIndex = std::uint16_t;
using LayoutChoice = std::vector<LayoutIndex>;

class LayoutMenu {
 public:
  // Every board's maximal layouts of base profiles. `fleet` must outlive the menu.
  explicit LayoutMenu(const Fleet& fleet);

  // Layouts of a board of the fleet, by its index; largest mean slice size first.
  std::size_t size(std::uint8_t board) const { return layouts_[board].size(); }
  // GPUs of a board.
  std::size_t count(std::uint8_t board) const { return gpus_[board].size(); }

  // "7,4-3*4,3-2-2*3", whatever the order of the list; a layout that is not maximal is added to the
  // menu, so no choice made before may be used after.
  Result<LayoutChoice> parse(std::string_view list);
  // Every GPU at the first layout of its board, of which there are as many as the longest board's
  // menu: the k-th one, or a board's last.
  LayoutChoice all_alike(std::size_t k) const;
  std::size_t longest() const;
  // As parse() and `static:` take it.
  std::string name(const LayoutChoice& choice) const;
  // The choice after `moved` GPUs of the board went from layout `from`, which at least one has, to
  // layout `to`.
  LayoutChoice moved(const LayoutChoice& choice, std::uint8_t board, LayoutIndex from,
                     LayoutIndex to, std::size_t moved) const;
  // How many GPUs of the board have the layout.
  std::size_t uses(const LayoutChoice& choice, std::uint8_t board, LayoutIndex layout) const;

 private:
  void sort_menu(std::uint8_t board);
  void put_in_order(LayoutChoice& choice) const;

  const Fleet* fleet_;
  std::vector<std::vector<SlotSet>> layouts_;  // By board.
  std::vector<std::vector<GpuIndex>> gpus_;    // By board.
};

}  // namespace smartmig
