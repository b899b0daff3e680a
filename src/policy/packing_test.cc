#include "policy/packing.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace smartmig {
namespace {

// By brute force: the multisets of sizes that a board's legal sets have.
std::set<Contents::Counts> legal_contents(const Board& board) {
  std::set<Contents::Counts> found;
  for (const SlotSet set : legal_sets(board, base_slots(board))) {
    Contents::Counts counts{};
    for (SlotSet rest = set; rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      ++counts[size_index(board.profiles[board.slots[slot].profile].compute_slices)];
    }
    found.insert(counts);
  }
  return found;
}

TEST(Contents, AreTheMultisetsOfAllLegalSets) {
  for (const char* spec : {"A100-40GB", "A30", "H100-80GB", "A100-40GB+2xA30"}) {
    const Fleet fleet = Fleet::parse(spec).value();
    const Contents contents(fleet);
    std::vector<std::set<Contents::Counts>> found(fleet.boards().size());
    for (std::size_t k = 0; k < contents.size(); ++k) {
      const Contents::Kind& kind = contents[static_cast<int>(k)];
      const Board& board = *fleet.boards()[kind.board];
      EXPECT_TRUE(is_legal(board, kind.set));
      EXPECT_EQ(contents.of(board, kind.board, kind.set), static_cast<int>(k));
      EXPECT_EQ(kind.unused, board.compute_slices - compute_slices(board, kind.set));
      EXPECT_TRUE(found[kind.board].insert(kind.counts).second);
    }
    for (std::size_t b = 0; b < found.size(); ++b)
      EXPECT_EQ(found[b], legal_contents(*fleet.boards()[b])) << spec;
  }
}

TEST(Contents, HaveNoPlaceForOtherProfiles) {
  const Fleet fleet = Fleet::parse("A100-40GB").value();
  const Board& board = fleet.board(0);
  const SlotSet others = all_slots(board) & ~base_slots(board);
  ASSERT_NE(others, 0u);
  EXPECT_EQ(Contents(fleet).of(board, 0, others & -others), -1);
}

TEST(Contents, StepsLeadToTheContentsTheyName) {
  const Fleet fleet = Fleet::parse("A100-40GB").value();
  const Contents contents(fleet);
  const auto known = legal_contents(fleet.board(0));
  for (std::size_t k = 0; k < contents.size(); ++k) {
    const Contents::Kind& kind = contents[static_cast<int>(k)];
    for (int to = 0; to < kSizeCount; ++to) {
      Contents::Counts more = kind.counts;
      ++more[to];
      EXPECT_EQ(kind.added[to] >= 0, known.contains(more));
      if (kind.added[to] >= 0) {
        EXPECT_EQ(contents[kind.added[to]].counts, more);
      }
      for (int from = 0; from < kSizeCount; ++from) {
        Contents::Counts other = more;
        if (--other[from] < 0) {
          EXPECT_EQ(kind.changed[from][to], -1) << "it has none to change";
          continue;
        }
        EXPECT_EQ(kind.changed[from][to] >= 0, known.contains(other));
        if (kind.changed[from][to] >= 0) {
          EXPECT_EQ(contents[kind.changed[from][to]].counts, other);
        }
      }
    }
  }
}

TEST(A100s, CanHoldExactlyWhatSomeLayoutsDo) {
  const Fleet fleet = Fleet::parse("A100-40GB").value();
  const auto one = legal_contents(fleet.board(0));
  std::set<std::array<int, kSizeCount>> held = {{}};
  for (int gpus = 1; gpus <= 3; ++gpus) {
    std::set<std::array<int, kSizeCount>> more;
    for (const auto& before : held) {
      for (const Contents::Counts& added : one) {
        auto sum = before;
        for (int size = 0; size < kSizeCount; ++size) sum[size] += added[size];
        more.insert(sum);
      }
    }
    held = std::move(more);
    std::array<int, kSizeCount> counts{};
    const int most = 7 * gpus + 1;
    for (counts[4] = 0; counts[4] <= gpus + 1; ++counts[4])
      for (counts[3] = 0; counts[3] <= gpus + 1; ++counts[3])
        for (counts[2] = 0; counts[2] <= 2 * gpus + 1; ++counts[2])
          for (counts[1] = 0; counts[1] <= 3 * gpus + 1; ++counts[1])
            for (counts[0] = 0; counts[0] <= most; ++counts[0])
              EXPECT_EQ(a100s_can_hold(counts, gpus), held.contains(counts));
  }
}

TEST(Packing, FillsGpusThatHoldSomethingFirst) {
  const Fleet fleet = Fleet::parse("3xA100-40GB").value();
  Packing packing(std::make_shared<const Contents>(fleet));
  const GpuIndex gpus[] = {3};
  packing.clear(gpus);
  for (const int size : {3, 2, 1, 1, 0}) EXPECT_TRUE(packing.add(0, size, 1));
  ASSERT_EQ(packing.bins().size(), 2u);  // 4-3 and 2-2-1.
  EXPECT_EQ(packing.contents()[packing.bins()[0].kind].unused, 0);
  EXPECT_EQ(packing.unused(), 2 + 7);
}

TEST(Packing, GoesWhereItLeavesLeastUnusedAndOfEqualsToTheFirst) {
  const Fleet fleet = Fleet::parse("3xA100-40GB").value();
  Packing packing(std::make_shared<const Contents>(fleet));
  const GpuIndex gpus[] = {3};
  packing.clear(gpus);
  for (std::uint32_t what = 0; what < 3; ++what) EXPECT_TRUE(packing.add(what, 3, 1));
  const auto bin_of = [&](std::uint32_t what) {
    for (std::size_t bin = 0; bin < packing.bins().size(); ++bin) {
      for (int i = 0; i < packing.bins()[bin].count; ++i) {
        if (packing.bins()[bin].items[i].what == what) return static_cast<int>(bin);
      }
    }
    return -1;
  };
  EXPECT_TRUE(packing.add(3, 1, 1));  // 4-2, 4, 4.
  EXPECT_EQ(bin_of(3), 0);
  EXPECT_TRUE(packing.add(4, 0, 1));  // Fills the 4-2.
  EXPECT_EQ(bin_of(4), 0);
  EXPECT_TRUE(packing.add(5, 0, 1));
  EXPECT_EQ(bin_of(5), 1);
  // Nothing is left of all that.
  packing.clear(gpus);
  EXPECT_TRUE(packing.bins().empty());
  EXPECT_EQ(packing.unused(), 21);
  EXPECT_TRUE(packing.add(0, 3, 1));
  EXPECT_TRUE(packing.add(1, 1, 1));
  EXPECT_EQ(packing.bins().size(), 1u);
}

TEST(Packing, PrefersTheGpuOpenedFirstWhateverItHolds) {
  const Fleet fleet = Fleet::parse("A100-40GB+H100-80GB").value();
  Packing packing(std::make_shared<const Contents>(fleet));
  const GpuIndex gpus[] = {1, 1};
  packing.clear(gpus);
  EXPECT_TRUE(packing.add(0, 3, 0b10));  // The H100: 4.
  EXPECT_TRUE(packing.add(1, 2, 0b01));  // The A100: 3-1, which has as much left.
  EXPECT_TRUE(packing.add(2, 0, 0b01));
  EXPECT_TRUE(packing.add(3, 1, 0b11));
  EXPECT_EQ(packing.bins()[0].count, 2);
}

TEST(Packing, RefusesWhatNoLayoutHasRoomFor) {
  const Fleet fleet = Fleet::parse("A100-40GB+A30").value();
  Packing packing(std::make_shared<const Contents>(fleet));
  const GpuIndex gpus[] = {1, 1};
  packing.clear(gpus);
  EXPECT_TRUE(packing.add(0, 4, 0b11));  // 7g: only the A100 has it.
  EXPECT_FALSE(packing.add(1, 4, 0b11));
  EXPECT_FALSE(packing.add(1, 0, 0b01));  // On the A100, which is full.
  EXPECT_TRUE(packing.add(1, 0, 0b11));
}

TEST(Packing, NeverExceedsALegalLayoutAndLosesNothing) {
  Random random(5, "packing");
  const Fleet fleet = Fleet::parse("5xA100-40GB+3xA30").value();
  Packing packing(std::make_shared<const Contents>(fleet));
  for (int round = 0; round < 500; ++round) {
    const GpuIndex gpus[] = {5, 3};
    packing.clear(gpus);
    std::uint32_t added = 0;
    for (std::uint32_t i = 0; i < 60; ++i)
      added += packing.add(i, static_cast<int>(random.below(kSizeCount)), 0b11);
    std::uint32_t items = 0;
    std::array<GpuIndex, 2> used{};
    for (const Packing::Bin& bin : packing.bins()) {
      Contents::Counts counts{};
      for (int i = 0; i < bin.count; ++i) ++counts[bin.items[i].size];
      EXPECT_EQ(packing.contents()[bin.kind].counts, counts);
      items += bin.count;
      ++used[packing.contents()[bin.kind].board];
    }
    EXPECT_EQ(items, added);
    EXPECT_LE(used[0], 5u);
    EXPECT_LE(used[1], 3u);
  }
}

}  // namespace
}  // namespace smartmig
