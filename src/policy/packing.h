// Puts slices of given sizes into empty GPUs, as many as legal layouts allow. GPUs of one board
// that hold the same multiset of sizes are alike, so one is as good as another: a slice goes to the
// kind of GPU that it fills best, at a cost that does not grow with the fleet.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// How many slices of each size a GPU holds, and what can be added. Found once for a fleet.
class Contents {
 public:
  using Counts = std::array<std::int8_t, kSizeCount>;
  struct Kind {
    std::uint8_t board = 0;
    Counts counts{};
    SlotSet set = 0;  // A legal placement.
    int unused = 0;   // Compute slices.
  };

  void begin(const Fleet& fleet);
  int empty(std::uint8_t board) const { return empty_[board]; }
  // The kind after one more slice, or one slice in place of another; -1: no legal layout has it.
  int added(int kind, int size);
  int changed(int kind, int from, int to);
  const Kind& operator[](int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  std::size_t size() const { return kinds_.size(); }
  // The kind with the sizes of a legal set of base profiles' slots; -1: it has others.
  int of(std::uint8_t board, SlotSet set);

 private:
  static constexpr int kUnknown = -2;
  int find(std::uint8_t board, const Counts& counts);

  const Fleet* fleet_ = nullptr;
  std::vector<int> empty_;  // By board.
  std::vector<Kind> kinds_;
  std::vector<std::array<int, kSizeCount>> added_;
  std::vector<std::array<std::array<int, kSizeCount>, kSizeCount>> changed_;
  std::map<std::pair<std::uint8_t, Counts>, int> index_;
  std::vector<int> wanted_;
};

class Packing {
 public:
  struct Item {
    std::uint32_t what = 0;  // The caller's.
    std::int8_t size = 0;
  };
  struct Bin {
    int kind = 0;
    std::uint8_t count = 0;
    std::array<Item, 16> items;
  };

  void begin(const Fleet& fleet) { contents_.begin(fleet); }
  // Empties all; `gpus` of each board can be filled.
  void clear(std::span<const GpuIndex> gpus);
  // Whether it found room for a slice of that size on a board for which `boards` has a bit.
  bool add(std::uint32_t what, int size, std::uint32_t boards);
  // Compute slices that are not used in GPUs that hold something, or in any.
  int unused() const;

  std::vector<Bin>& bins() { return bins_; }  // Of GPUs that hold something.
  Contents& contents() { return contents_; }

 private:
  void file(std::uint32_t bin);

  Contents contents_;
  std::vector<GpuIndex> empty_left_;  // By board.
  std::vector<Bin> bins_;
  std::vector<std::vector<std::uint32_t>> by_kind_;  // Bins.
  std::vector<int> open_;                            // Kinds that have bins, or had.
};

}  // namespace smartmig
