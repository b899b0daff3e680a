#include "mig/layout.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <tuple>

#include "base/random.h"

namespace smartmig {
namespace {

const Board& board(std::string_view name) {
  const auto found = BoardTable::shipped().find(name);
  SM_CHECK(found.has_value());
  return **found;
}

SlotSet layout(const Board& b, std::string_view text) {
  const auto set = parse_layout(b, text);
  SM_CHECK(set.has_value());
  return *set;
}

// The slot of a profile at a start.
SlotSet slot(const Board& b, std::string_view profile, int start) {
  for (std::size_t i = 0; i < b.slots.size(); ++i) {
    if (b.profiles[b.slots[i].profile].name == profile && b.slots[i].start == start)
      return SlotSet{1} << i;
  }
  SM_CHECK(!"a slot of that profile");
  return 0;
}

// Legality from its definition: counts memory slices, profiles and engines of a list, without
// conflicts or bits.
bool legal_by_hand(const Board& b, SlotSet set) {
  std::vector<int> cells(static_cast<std::size_t>(b.memory_slices)), counts(b.profiles.size());
  std::array<int, 4> engines{};
  for (std::size_t i = 0; i < b.slots.size(); ++i) {
    if (!(set >> i & 1)) continue;
    const Slot& s = b.slots[i];
    for (int m = s.start; m < s.start + s.width; ++m) {
      if (++cells[static_cast<std::size_t>(m)] > 1) return false;
    }
    if (++counts[s.profile] > b.profiles[s.profile].max_count) return false;
    for (std::size_t e = 0; e < 4; ++e) engines[e] += b.profiles[s.profile].engines[e];
  }
  for (std::size_t e = 0; e < 4; ++e) {
    if (b.engines_total[e] >= 0 && engines[e] > b.engines_total[e]) return false;
  }
  return true;
}

// All subsets of `allowed`, ascending.
std::vector<SlotSet> subsets(SlotSet allowed) {
  std::vector<SlotSet> out = {0};
  for (SlotSet s = (0 - allowed) & allowed; s != 0; s = (s - allowed) & allowed) out.push_back(s);
  return out;
}

TEST(Layout, CountsOfTheA100AndTheA30AreThePublishedOnes) {
  const Board& a100 = board("A100-40GB");
  EXPECT_EQ(legal_sets(a100, base_slots(a100)).size(), 298u);
  EXPECT_EQ(maximal_sets(a100, base_slots(a100)).size(), 19u);
  EXPECT_EQ(layouts(a100, base_slots(a100)).size(), 14u);
  const Board& a30 = board("A30");
  EXPECT_EQ(legal_sets(a30, base_slots(a30)).size(), 26u);
  EXPECT_EQ(maximal_sets(a30, base_slots(a30)).size(), 5u);
  EXPECT_EQ(layouts(a30, base_slots(a30)).size(), 4u);
}

TEST(Layout, EveryBoardOfSevenSlicesHasTheGeometryOfTheA100) {
  for (const Board& b : BoardTable::shipped().boards()) {
    if (b.compute_slices != 7) continue;
    EXPECT_EQ(legal_sets(b, base_slots(b)).size(), 298u) << b.name;
    EXPECT_EQ(layouts(b, base_slots(b)).size(), 14u) << b.name;
  }
}

TEST(Layout, EnumerationAgreesWithBruteForceOverAllSubsets) {
  for (const char* name : {"A100-40GB", "H100-80GB", "RTX-PRO-6000"}) {
    const Board& b = board(name);
    const SlotSet base = base_slots(b);
    std::vector<SlotSet> legal, maximal;
    for (SlotSet set : subsets(base)) {
      ASSERT_EQ(is_legal(b, set), legal_by_hand(b, set)) << name << " " << set;
      if (legal_by_hand(b, set)) legal.push_back(set);
    }
    for (SlotSet set : legal) {
      bool more = false;
      for (SlotSet other : legal) more |= other != set && (other & set) == set;
      if (!more) maximal.push_back(set);
    }
    EXPECT_EQ(legal_sets(b, base), legal);
    EXPECT_EQ(maximal_sets(b, base), maximal);
  }
}

TEST(Layout, EnumerationOfAllProfilesAgreesWithBruteForceOnTheA30) {
  const Board& b = board("A30");
  std::vector<SlotSet> legal;
  for (SlotSet set : subsets(all_slots(b))) {
    if (legal_by_hand(b, set)) legal.push_back(set);
  }
  EXPECT_GT(legal.size(), 26u);
  EXPECT_EQ(legal_sets(b, all_slots(b)), legal);
}

TEST(Layout, NoLegalSetOfAnyBoardNeedsMoreThanTheBoardHas) {
  for (const Board& b : BoardTable::shipped().boards()) {
    for (SlotSet set : legal_sets(b, base_slots(b))) {
      ASSERT_LE(compute_slices(b, set), b.compute_slices) << b.name;
      ASSERT_LE(slice_count(set), b.max_instances) << b.name;
    }
  }
}

TEST(Layout, RefusesOverlappingPlacements) {
  const Board& b = board("A100-40GB");
  EXPECT_FALSE(is_legal(b, slot(b, "4g.20gb", 0) | slot(b, "3g.20gb", 0)));
  EXPECT_TRUE(is_legal(b, slot(b, "4g.20gb", 0) | slot(b, "3g.20gb", 4)));
  EXPECT_FALSE(is_legal(b, SlotSet{1} << 60));  // No such slot.
  EXPECT_FALSE(can_add(b, slot(b, "4g.20gb", 0), std::countr_zero(slot(b, "1g.5gb", 3))));
  EXPECT_TRUE(can_add(b, slot(b, "4g.20gb", 0), std::countr_zero(slot(b, "1g.5gb", 4))));
}

TEST(Layout, CountsInstancesAndComputeSlicesLimitASet) {
  // On the shipped boards the geometry implies them; a board of another kind need not be so kind.
  Board b = board("A100-40GB");
  const SlotSet three = slot(b, "1g.5gb", 0) | slot(b, "1g.5gb", 1) | slot(b, "1g.5gb", 2);
  EXPECT_TRUE(is_legal(b, three));
  b.profiles[0].max_count = 2;
  EXPECT_FALSE(is_legal(b, three));
  b.profiles[0].max_count = 7;
  b.max_instances = 2;
  EXPECT_FALSE(is_legal(b, three));
  b.max_instances = 7;
  b.compute_slices = 2;
  EXPECT_FALSE(is_legal(b, three));
}

TEST(Layout, OnlyOneSliceHasTheMediaEngines) {
  const Board& b = board("A100-40GB");
  EXPECT_TRUE(is_legal(b, slot(b, "1g.5gb+me", 0)));
  EXPECT_FALSE(is_legal(b, slot(b, "1g.5gb+me", 0) | slot(b, "1g.5gb+me", 1)));
  // On the A30 the two kinds of +me share one ofa engine.
  const Board& a30 = board("A30");
  EXPECT_FALSE(is_legal(a30, slot(a30, "1g.6gb+me", 0) | slot(a30, "2g.12gb+me", 2)));
}

TEST(Layout, AllMediaEnginesInOneSliceLeaveOnlySlicesWithout) {
  const Board& b = board("RTX-PRO-6000");
  for (const char* all : {"1g.24gb+me.all", "2g.48gb+me.all"}) {
    for (const Profile& profile : b.profiles) {
      if (profile.starts.back() < 6) continue;  // Those that fit beside it at all.
      EXPECT_EQ(is_legal(b, slot(b, all, 0) | slot(b, profile.name, profile.starts.back())),
                profile.name.ends_with("-me"))
          << all << " " << profile.name;
    }
  }
}

TEST(Layout, TheRuleOfTheMediaProfileHoldsWithoutEngineCounts) {
  Board b = board("RTX-PRO-6000");
  b.engines_total = {-1, -1, -1, -1};
  EXPECT_FALSE(is_legal(b, slot(b, "1g.24gb+me.all", 0) | slot(b, "2g.48gb", 6)));
  EXPECT_FALSE(is_legal(b, slot(b, "1g.24gb", 0) | slot(b, "1g.24gb+me.all", 9)));
  EXPECT_TRUE(is_legal(b, slot(b, "1g.24gb+me.all", 0) | slot(b, "2g.48gb-me", 6)));
}

TEST(Layout, ThePapersTwelveLayoutsParseAndKeepTheirNames) {
  const Board& b = board("A100-40GB");
  for (const char* name : {"7", "4-3", "4-2-1", "4-1-1-1", "3-3", "3-2-2", "3-2-1-1", "3-1-1-1-1",
                           "2-2-2-1", "2-2-1-1-1", "2-1-1-1-1-1", "1-1-1-1-1-1-1"}) {
    const auto set = parse_layout(b, name);
    ASSERT_TRUE(set.has_value()) << set.error().message;
    EXPECT_TRUE(is_legal(b, *set));
    EXPECT_EQ(layout_name(b, *set), name);
  }
  EXPECT_EQ(layout_name(b, layout(b, "1-4-2")), "4-2-1");
  EXPECT_EQ(layout_name(b, layout(b, "1g.5gb-4-1g.10gb")), "4-1g.10gb-1");
  EXPECT_EQ(layout_name(b, 0), "empty");
  EXPECT_EQ(layout(b, "empty"), 0u);
}

TEST(Layout, TheFourteenLayoutsComeLargestFirst) {
  const Board& b = board("A100-40GB");
  std::vector<std::string> names;
  for (SlotSet set : layouts(b, base_slots(b))) names.push_back(layout_name(b, set));
  EXPECT_EQ(names, (std::vector<std::string>{"7", "4-3", "4-2-1", "4-1-1-1", "3-3", "3-2-2",
                                             "3-2-1-1", "3-2-1", "3-1-1-1-1", "3-1-1-1", "2-2-2-1",
                                             "2-2-1-1-1", "2-1-1-1-1-1", "1-1-1-1-1-1-1"}));
}

TEST(Layout, NamesWithADashInThemParse) {
  const Board& b = board("RTX-PRO-6000");
  EXPECT_EQ(layout_name(b, layout(b, "1g.24gb-me-1g.24gb-1")), "1-1-1g.24gb-me");
  EXPECT_EQ(layout_name(b, layout(b, "2g.48gb-me-2")), "2-2g.48gb-me");
}

TEST(Layout, EveryNameParsesBackToTheSameMultiset) {
  for (const Board& b : BoardTable::shipped().boards()) {
    for (SlotSet set : layouts(b, all_slots(b))) {
      const auto again = parse_layout(b, layout_name(b, set));
      ASSERT_TRUE(again.has_value()) << again.error().message;
      ASSERT_EQ(*again, set) << b.name << " " << layout_name(b, set);
    }
  }
}

// Starts, larger profiles first: what the canonical order compares.
std::vector<int> starts_of(const Board& b, SlotSet set) {
  std::vector<int> starts;
  for (std::uint8_t p : b.largest_first) {
    for (std::size_t i = 0; i < b.slots.size(); ++i) {
      if (b.slots[i].profile == p && (set >> i & 1)) starts.push_back(b.slots[i].start);
    }
  }
  return starts;
}

TEST(Layout, TheCanonicalPlacementHasTheLeastStarts) {
  const Board& b = board("A100-40GB");
  std::map<std::string, SlotSet> least;
  for (SlotSet set : legal_sets(b, all_slots(b))) {
    const auto [at, fresh] = least.try_emplace(layout_name(b, set), set);
    if (!fresh && starts_of(b, set) < starts_of(b, at->second)) at->second = set;
  }
  for (const auto& [name, best] : least) ASSERT_EQ(layout(b, name), best) << name;
}

TEST(Layout, SaysWhatIsWrongAndWhatThereIs) {
  const Board& b = board("A100-40GB");
  const auto error = [&](std::string_view text) { return parse_layout(b, text).error().message; };
  EXPECT_EQ(
      error("3-3-1"),
      "layout '3-3-1' on A100-40GB: these slices cannot stand on one GPU together; layouts of "
      "A100-40GB: 7, "
      "4-3, 4-2-1, 4-1-1-1, 3-3, 3-2-2, 3-2-1-1, 3-2-1, 3-1-1-1-1, 3-1-1-1, 2-2-2-1, 2-2-1-1-1, "
      "2-1-1-1-1-1, 1-1-1-1-1-1-1, and parts of them");
  EXPECT_EQ(error("4-5"),
            "layout '4-5' on A100-40GB: found '5', expected one of 1, 1g.5gb+me, 1g.10gb, 2, 3, 4, "
            "7, with '-' "
            "between them");
  EXPECT_NE(error("4-4").find("found 2 slices of 4g.20gb, expected at most 1"), std::string::npos);
  EXPECT_NE(error("4-3-1").find("found 8 compute slices, expected at most 7"), std::string::npos);
  for (const char* text : {"", "-", "4-", "-4", "4--3", "4 3", "4-3\n", "07", "4g"}) {
    const auto set = parse_layout(b, text);
    ASSERT_FALSE(set.has_value()) << text;
    EXPECT_EQ(set.error().message.find('\n'), std::string::npos);
  }
  std::string endless = "1";
  for (int i = 0; i < 1000; ++i) endless += "-1";
  EXPECT_FALSE(parse_layout(b, endless).has_value());
}

TEST(Layout, MemoryRangeAndSumsAreThoseOfTheSlices) {
  const Board& b = board("A100-40GB");
  EXPECT_EQ(memory_range(b, layout(b, "4-2-1")), 0b0111'1111u);
  EXPECT_EQ(memory_range(b, layout(b, "3-3")), 0b1111'1111u);
  EXPECT_EQ(compute_slices(b, layout(b, "3-3")), 6);
  EXPECT_EQ(slice_count(layout(b, "2-2-1-1-1")), 5);
  EXPECT_TRUE(same_layout(b, slot(b, "3g.20gb", 0), slot(b, "3g.20gb", 4)));
  EXPECT_FALSE(same_layout(b, slot(b, "1g.5gb", 0), slot(b, "1g.5gb+me", 0)));
}

TEST(Placement, TheClosestOneAgreesWithBruteForce) {
  Random random(1, "closest-placement");
  for (const char* name : {"A100-40GB", "A30"}) {
    const Board& b = board(name);
    const std::vector<SlotSet> legal = legal_sets(b, all_slots(b));
    const std::vector<SlotSet> base = legal_sets(b, base_slots(b));
    std::map<std::string, std::vector<SlotSet>> by_name;
    for (SlotSet set : legal) by_name[layout_name(b, set)].push_back(set);
    for (int trial = 0; trial < 10'000; ++trial) {
      const auto& from = trial % 4 == 0 ? legal : base;
      const SlotSet present = from[random.below(from.size())];
      const SlotSet wanted = from[random.below(from.size())];
      const SlotSet pinned = present & random.bits();
      const SlotSet got = closest_placement(b, present, pinned, wanted);
      // Most pinned slots, then most present ones, then the least starts.
      const auto cost = [&](SlotSet set) {
        return std::tuple(-std::popcount(set & pinned), -std::popcount(set & present),
                          starts_of(b, set));
      };
      SlotSet best = got;
      ASSERT_TRUE(same_layout(b, got, wanted));
      ASSERT_TRUE(legal_by_hand(b, got));
      for (SlotSet other : by_name[layout_name(b, wanted)]) {
        if (cost(other) < cost(best)) best = other;
      }
      ASSERT_EQ(got, best) << layout_name(b, present) << " to " << layout_name(b, wanted);
    }
  }
}

TEST(Placement, TiesGoToTheCanonicalOrder) {
  const Board& b = board("A100-40GB");
  EXPECT_EQ(closest_placement(b, 0, 0, slot(b, "3g.20gb", 4)), slot(b, "3g.20gb", 0));
  EXPECT_EQ(closest_placement(b, slot(b, "1g.5gb", 5), 0, layout(b, "3-2")),
            slot(b, "3g.20gb", 0) | slot(b, "2g.10gb", 4));
}

TEST(Placement, KeepsThePinnedSliceEvenWhereThatCostsOthers) {
  const Board& b = board("A100-40GB");
  const SlotSet pinned = slot(b, "2g.10gb", 0);
  const SlotSet present = pinned | slot(b, "3g.20gb", 4) | slot(b, "1g.5gb", 2);
  EXPECT_EQ(closest_placement(b, present, pinned, layout(b, "3-2-2")),
            pinned | slot(b, "2g.10gb", 2) | slot(b, "3g.20gb", 4));
  // The 1g at 6 pins the 4g-2g half to canonical places.
  EXPECT_EQ(closest_placement(b, slot(b, "1g.5gb", 6), slot(b, "1g.5gb", 6), layout(b, "4-2-1")),
            layout(b, "4-2-1"));
}

TEST(Placement, LargestCreatableAgreesWithBruteForce) {
  for (const char* name : {"A100-40GB", "A30", "RTX-PRO-6000"}) {
    const Board& b = board(name);
    for (SlotSet busy : legal_sets(b, base_slots(b))) {
      int best = 0;
      for (std::size_t i = 0; i < b.slots.size(); ++i) {
        const Profile& profile = b.profiles[b.slots[i].profile];
        const SlotSet with = busy | SlotSet{1} << i;
        if (with == busy || profile.kind != ProfileKind::kBase || !legal_by_hand(b, with)) continue;
        best = std::max(best, profile.compute_slices);
      }
      ASSERT_EQ(largest_creatable(b, busy), best) << name << " " << layout_name(b, busy);
    }
  }
  EXPECT_EQ(largest_creatable(board("A100-40GB"), 0), 7);
}

// Checks a transition step by step; returns how many steps it has.
std::size_t check_transition(const Board& b, SlotSet from, SlotSet to) {
  const Transition t = transition(b, from, to);
  EXPECT_EQ(t.survivors, from & to);
  SlotSet present = from;
  SlotSet wanted = to & ~from;
  for (const Step& step : t.steps) {
    const SlotSet bit = SlotSet{1} << step.slot;
    if (step.kind == Step::Kind::kDestroy) {
      // A creation that had room would have come first.
      for (std::size_t i = 0; i < b.slots.size(); ++i) {
        EXPECT_FALSE((wanted >> i & 1) && legal_by_hand(b, present | SlotSet{1} << i));
      }
    }
    EXPECT_EQ((present & bit) != 0, step.kind == Step::Kind::kDestroy);
    EXPECT_EQ(t.survivors & bit, 0u);
    present ^= bit;
    wanted &= ~bit;
    EXPECT_TRUE(legal_by_hand(b, present));
  }
  EXPECT_EQ(present, to);
  return t.steps.size();
}

TEST(Transition, IsLegalAfterEveryStepForAllPairsOfTheA100) {
  const Board& b = board("A100-40GB");
  const std::vector<SlotSet> legal = legal_sets(b, base_slots(b));
  for (SlotSet from : legal) {
    for (SlotSet to : legal) {
      ASSERT_EQ(check_transition(b, from, to), static_cast<std::size_t>(std::popcount(from ^ to)));
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(Transition, IsLegalAfterEveryStepWithAllProfiles) {
  Random random(2, "transition");
  for (const char* name : {"A100-40GB", "RTX-PRO-6000"}) {
    const Board& b = board(name);
    const std::vector<SlotSet> legal = legal_sets(b, all_slots(b));
    for (int trial = 0; trial < 5'000; ++trial) {
      check_transition(b, legal[random.below(legal.size())], legal[random.below(legal.size())]);
      ASSERT_FALSE(HasFailure()) << name;
    }
  }
}

TEST(Transition, NoShorterListOfStepsExistsOnTheA30) {
  const Board& b = board("A30");
  const std::vector<SlotSet> legal = legal_sets(b, all_slots(b));
  for (SlotSet from : legal) {
    // Breadth first over single creations and destructions.
    std::map<SlotSet, std::size_t> distance = {{from, 0}};
    std::vector<SlotSet> queue = {from};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (std::size_t i = 0; i < b.slots.size(); ++i) {
        const SlotSet next = queue[head] ^ SlotSet { 1 } << i;
        if (!legal_by_hand(b, next) || distance.contains(next)) continue;
        distance[next] = distance[queue[head]] + 1;
        queue.push_back(next);
      }
    }
    for (SlotSet to : legal) ASSERT_EQ(check_transition(b, from, to), distance.at(to));
  }
}

TEST(Transition, KeepsWhatIsInBothAndMakesRoomFirst) {
  const Board& b = board("A100-40GB");
  const SlotSet from = layout(b, "4-2-1"), to = layout(b, "4-3");
  const Transition t = transition(b, from, to);
  EXPECT_EQ(t.survivors, slot(b, "4g.20gb", 0));
  ASSERT_EQ(t.steps.size(), 3u);
  EXPECT_EQ(t.steps[2].kind, Step::Kind::kCreate);
  EXPECT_EQ(SlotSet{1} << t.steps[2].slot, slot(b, "3g.20gb", 4));
  EXPECT_TRUE(transition(b, from, from).steps.empty());
}

}  // namespace
}  // namespace smartmig
