// Puts slices of given sizes into empty GPUs, as many as legal layouts allow. GPUs of one board
// that hold the same multiset of sizes are alike, so one is as good as another: a slice goes to the
// kind of GPU that it fills best, at a cost that does not grow with the fleet.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// How many slices of each size a GPU can hold, and what can be added to them: found once for a
// fleet, then shared by all runs on it.
class Contents {
 public:
  using Counts = std::array<std::int8_t, kSizeCount>;
  struct Kind {
    std::uint8_t board = 0;
    Counts counts{};
    SlotSet set = 0;  // A legal placement.
    int unused = 0;   // Compute slices.
    // The kind after one more slice, or one slice in place of another; -1: no legal layout has it.
    std::array<int, kSizeCount> added{};
    std::array<std::array<int, kSizeCount>, kSizeCount> changed{};
  };

  explicit Contents(const Fleet& fleet);
  int empty(std::uint8_t board) const { return empty_[board]; }
  const Kind& operator[](int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  std::size_t size() const { return kinds_.size(); }
  // The kind with the sizes of a legal set of base profiles' slots; -1: it has others.
  int of(const Board& board, std::uint8_t index, SlotSet set) const;

 private:
  using Index = std::map<std::pair<std::uint8_t, Counts>, int>;
  int find(const Board& board, std::uint8_t index, const Counts& counts, Index& known);

  std::vector<int> empty_;  // By board.
  std::vector<Kind> kinds_;
};

// Whether so many GPUs with seven compute and eight memory slices, placed as on an A100, can hold
// these numbers of slices: a GPU with a 4g has room for a 3g, or a 2g and a 1g; others for two 3g,
// or one and two 2g, or three 2g and a 1g; and two 1g go wherever a 2g does.
bool a100s_can_hold(const std::array<int, kSizeCount>& counts, int gpus);

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

  explicit Packing(std::shared_ptr<const Contents> contents);
  // After this so many GPUs are packed without allocation.
  void reserve(std::size_t gpus);
  // Empties all; `gpus` of each board can be filled.
  void clear(std::span<const GpuIndex> gpus);
  // Whether it found room for a slice of that size on a board for which `boards` has a bit.
  bool add(std::uint32_t what, int size, std::uint32_t boards);
  // Compute slices that are not used in GPUs that hold something, or in any.
  int unused() const;

  std::vector<Bin>& bins() { return bins_; }  // Of GPUs that hold something.
  const Contents& contents() const { return *contents_; }

 private:
  void file(std::uint32_t bin);

  std::shared_ptr<const Contents> contents_;
  std::vector<GpuIndex> empty_left_;  // By board.
  std::vector<Bin> bins_;
  std::vector<std::vector<std::uint32_t>> by_kind_;  // Bins.
  std::vector<int> open_;                            // Kinds that have bins, or had.
};

}  // namespace smartmig
