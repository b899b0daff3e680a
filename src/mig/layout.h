// Layouts: sets of slices on one GPU. Pure geometry over a Board.
//
// A SlotSet says where each slice is; a layout by multiset ("4-2-1") only how many of each profile.
// Several SlotSets can have one multiset. A set is legal when
//   1. no two of its slots conflict: they overlap, or their profiles exclude each other;
//   2. no profile stands in it over max_count times, and it has at most max_instances slices;
//   3. its slices together have no more compute slices and engines than the board.
// Every part of a legal set is legal, and the empty set is. 2 and 3 depend on the multiset alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/board.h"

namespace smartmig {

bool is_legal(const Board& board, SlotSet set);
// May this slot be added to a legal set?
bool can_add(const Board& board, SlotSet set, int slot);

// All legal sets over the slots in `allowed`, the empty one included, ascending as numbers.
std::vector<SlotSet> legal_sets(const Board& board, SlotSet allowed);
// Those to which no further slot of `allowed` can be added.
std::vector<SlotSet> maximal_sets(const Board& board, SlotSet allowed);
// The distinct multisets among the maximal sets, one set for each (its canonical placement),
// largest slices first: the 14 layouts of an A100, of which the papers number 12.
std::vector<SlotSet> layouts(const Board& board, SlotSet allowed);

// Slots of base profiles only: what the papers use.
SlotSet base_slots(const Board& board);
SlotSet all_slots(const Board& board);

// "4-2-1" or, for other profiles, their names: "4-1g.10gb-1". The canonical placement: of all legal
// sets with that multiset the one that is least as a list of starts, larger profiles first. The
// error says what is wrong and which layouts there are.
Result<SlotSet> parse_layout(const Board& board, std::string_view text);
// The canonical placement of a legal set's multiset.
SlotSet canonical_placement(const Board& board, SlotSet layout);
// The name of a set, largest slices first; "-" pieces; "empty" for the empty set.
std::string layout_name(const Board& board, SlotSet set);
// Same multiset of profiles?
bool same_layout(const Board& board, SlotSet a, SlotSet b);

int compute_slices(const Board& board, SlotSet set);  // Sum over the slices.
int slice_count(SlotSet set);
// Memory slices covered, as bits.
std::uint32_t memory_range(const Board& board, SlotSet set);

// The placement of `layout`'s multiset that keeps every slot of `pinned` if any does (else as many
// as possible), and among those the most slots of `present`; ties go to the canonical order. What a
// partitioner asks for when it wants a multiset and does not care where. `layout` must be legal. No
// allocation; a few dozen candidates at most on the boards we know.
SlotSet closest_placement(const Board& board, SlotSet present, SlotSet pinned, SlotSet layout);

// The largest base profile (in compute slices) that could be created beside `busy`; 0 if none.
int largest_creatable(const Board& board, SlotSet busy);

struct Step {
  enum class Kind : std::uint8_t { kDestroy, kCreate } kind;
  std::uint8_t slot;
};

// How to go from one set to another: the slices in both survive; everything else of `from` is
// destroyed and everything else of `to` created, which is the least number of steps, as a slice
// cannot move. The set is legal after every step, and nothing is destroyed while a creation has
// room.
struct Transition {
  SlotSet survivors = 0;
  std::vector<Step> steps;
};
Transition transition(const Board& board, SlotSet from, SlotSet to);

}  // namespace smartmig
