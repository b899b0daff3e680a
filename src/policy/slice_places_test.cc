#include "policy/slice_places.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

const Board& a100() { return **BoardTable::shipped().find("A100-40GB"); }

// "3@4, rank 15"
std::string place_of(SlotSet taken, int compute, Fit fit) {
  const Place place = find_places(a100(), taken, fit)[size_index(compute)];
  if (place.slot == kNoSlot) return "none";
  return fmt::format("{}@{}, rank {}", compute, a100().slots[place.slot].start, place.rank);
}

SlotSet slot_at(int compute, int start) {
  for (std::size_t slot = 0; slot < a100().slots.size(); ++slot) {
    const Slot& s = a100().slots[slot];
    if (s.profile == a100().base_profile(compute) && s.start == start) return SlotSet{1} << slot;
  }
  return 0;
}

TEST(SlicePlaces, RoomBlocksTheLeastComputeSlicesOfOtherPlaces) {
  // A 1g at 6 is in the way of a 3g and a 7g; at 0 also of a 2g and a 4g.
  EXPECT_EQ(place_of(0, 1, Fit::kRoom), "1@6, rank 11");
  EXPECT_EQ(place_of(0, 2, Fit::kRoom), "2@4, rank 14");
  EXPECT_EQ(place_of(0, 3, Fit::kRoom), "3@4, rank 15");
  EXPECT_EQ(place_of(0, 4, Fit::kRoom), "4@0, rank 22");
  EXPECT_EQ(place_of(0, 7, Fit::kRoom), "7@0, rank 30");
  EXPECT_EQ(place_of(slot_at(1, 6), 1, Fit::kRoom), "1@4, rank 3");
}

TEST(SlicePlaces, OtherFitsTakeTheLowestStartAndRankByMemory) {
  const SlotSet taken = slot_at(3, 4);
  EXPECT_EQ(place_of(taken, 1, Fit::kFirst), "1@0, rank 0");
  EXPECT_EQ(place_of(taken, 1, Fit::kPack), "1@0, rank 28");
  EXPECT_EQ(place_of(taken, 1, Fit::kSpread), "1@0, rank 4");
  EXPECT_EQ(place_of(0, 1, Fit::kPack), "1@0, rank 32");
  EXPECT_EQ(place_of(taken, 4, Fit::kFirst), "4@0, rank 0");
  EXPECT_EQ(place_of(taken, 7, Fit::kFirst), "none");
}

TEST(SlicePlaces, FindsRoomBesideAPlaceThatIsPromisedUnderASliceToBeDestroyed) {
  const SlotSet taken = slot_at(4, 0) | slot_at(1, 0);
  EXPECT_EQ(place_of(taken, 3, Fit::kFirst), "3@4, rank 0");
  EXPECT_EQ(place_of(taken, 2, Fit::kFirst), "2@4, rank 0");
}

TEST(SlicePlaces, TheTableSaysTheSame) {
  const Fleet fleet = *Fleet::parse("A30+A100-40GB");
  for (const Fit fit : {Fit::kRoom, Fit::kFirst, Fit::kPack, Fit::kSpread}) {
    const PlaceTable table(fleet, fit);
    for (const SlotSet set : legal_sets(a100(), all_slots(a100()))) {
      const PlacesBySize expected = find_places(a100(), set, fit);
      const PlacesBySize found = table.find(1, set);
      for (int size = 0; size < kSizeCount; ++size) {
        ASSERT_EQ(found[size].slot, expected[size].slot);
        ASSERT_EQ(found[size].rank, expected[size].rank);
      }
    }
  }
}

}  // namespace
}  // namespace smartmig
