// Where a new slice of a base profile goes on one GPU, given the slots that are taken there: the
// place that a rule of fit prefers, and its rank, by which GPUs are compared. Places for all legal
// sets of base slices are worked out once for each board of a fleet.
#pragma once

#include <array>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

// kRoom: the place that blocks the least sum of compute sizes of other places; kFirst: the lowest;
// kPack, kSpread: on the GPU with the most, the fewest memory slices taken.
enum class Fit : std::uint8_t { kRoom, kFirst, kPack, kSpread };

inline constexpr std::uint8_t kNoSlot = 0xff;

struct Place {
  std::uint8_t slot = kNoSlot;  // Index into Board::slots; kNoSlot: there is no place.
  std::uint8_t rank = 0xff;     // The lower the better.
};
using PlacesBySize = std::array<Place, kSizeCount>;  // For the base profile of each of kSizes.

// Of the free places beside `taken` the one with the least rank; ties go to the lowest start.
// `taken` need not be legal: a place may be promised where a slice is still being destroyed.
PlacesBySize find_places(const Board& board, SlotSet taken, Fit fit);

class PlaceTable {
 public:
  PlaceTable(const Fleet& fleet, Fit fit);
  // As find_places(), for the board of index `board` in Fleet::boards().
  PlacesBySize find(std::uint8_t board, SlotSet taken) const;

 private:
  struct BoardPlaces {
    const Board* board = nullptr;
    std::vector<SlotSet> sets;  // Ascending.
    std::vector<PlacesBySize> places;
  };
  std::vector<BoardPlaces> boards_;
  Fit fit_;
};

}  // namespace smartmig
