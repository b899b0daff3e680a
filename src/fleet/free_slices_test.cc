#include "fleet/free_slices.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace smartmig {
namespace {

// The same as FreeSlices, with a scan for every question.
struct SlicesModel {
  const Fleet& fleet;
  GpuOrder order;
  std::map<SliceId, KindIndex> free;
  std::vector<int> busy;
  std::vector<std::pair<int, int>> mean;  // Sum and number of slices.

  SlicesModel(const Fleet& of, GpuOrder by)
      : fleet(of), order(by), busy(of.gpu_count()), mean(of.gpu_count(), {0, 1}) {}

  // Larger comes first.
  double worth(GpuIndex gpu) const {
    if (order == GpuOrder::kMostOccupied)
      return static_cast<double>(busy[gpu]) / fleet.board(gpu).compute_slices;
    if (order == GpuOrder::kLargestMeanSize)
      return static_cast<double>(mean[gpu].first) / mean[gpu].second;
    return 0;
  }
  KindSet kinds_on(GpuIndex gpu) const {
    KindSet kinds = 0;
    const auto end = free.lower_bound(fleet.slice_at(gpu + 1, 0));
    for (auto at = free.lower_bound(fleet.slice_at(gpu, 0)); at != end; ++at)
      kinds |= KindSet{1} << at->second;
    return kinds;
  }
};

void expect_same(const FreeSlices& slices, const SlicesModel& model, KindSet wanted) {
  const GpuIndex gpus = model.fleet.gpu_count();
  const KindSet all_kinds = (KindSet{1} << model.fleet.kinds().size()) - 1;
  KindSet kinds = 0;
  SliceId lowest = kNone;
  GpuIndex best = kNone;
  for (GpuIndex gpu = 0; gpu < gpus; ++gpu) {
    const KindSet here = model.kinds_on(gpu);
    ASSERT_EQ(slices.kinds_on(gpu, all_kinds), here) << "GPU " << gpu;
    if (model.order == GpuOrder::kMostOccupied) {
      ASSERT_EQ(slices.busy(gpu), model.busy[gpu]) << "GPU " << gpu;
    }
    kinds |= here;
    if (!(here & wanted)) continue;
    if (best == kNone || model.worth(gpu) > model.worth(best)) best = gpu;
    SliceId first = kNone;
    for (const auto& [slice, kind] : model.free) {
      if (model.fleet.gpu_of(slice) == gpu && wanted >> kind & 1 && first == kNone) first = slice;
    }
    ASSERT_EQ(slices.lowest(gpu, wanted), first) << "GPU " << gpu;
    if (lowest == kNone) lowest = first;
  }
  ASSERT_EQ(slices.kinds(), kinds);
  ASSERT_EQ(slices.first_anywhere(wanted), lowest);
  std::uint64_t buckets = slices.buckets(wanted);
  ASSERT_EQ(buckets != 0, best != kNone);
  double last = 100;
  for (bool first = true; buckets; buckets &= buckets - 1, first = false) {
    const SliceId slice = slices.first(std::countr_zero(buckets), wanted);
    ASSERT_NE(slice, kNone) << "a bucket that is said to have a slice has none";
    const GpuIndex gpu = model.fleet.gpu_of(slice);
    ASSERT_EQ(slice, slices.lowest(gpu, wanted));
    if (first) {
      ASSERT_EQ(gpu, best) << "of the best bucket";
    }
    ASSERT_LT(model.worth(gpu), last) << "buckets must descend";
    last = model.worth(gpu);
  }
}

// Random changes to a fleet of two boards and over 64 GPUs (two levels of a BitForest).
class FreeSlicesTest : public testing::TestWithParam<GpuOrder> {
 protected:
  void add_layout(GpuIndex gpu) {
    const auto& choices = sets_[fleet_.board_index(gpu)];
    const SlotSet set = choices[random_.below(choices.size())];
    for (SlotSet rest = set; rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      const SliceId slice = fleet_.slice_at(gpu, fleet_.board(gpu).slots[slot].start);
      slices_.add(slice, fleet_.kind_of_slot(gpu, slot));
      model_.free[slice] = fleet_.kind_of_slot(gpu, slot);
    }
    slices_.set_mean_size(gpu, compute_slices(fleet_.board(gpu), set), slice_count(set));
    if (set) model_.mean[gpu] = {compute_slices(fleet_.board(gpu), set), slice_count(set)};
  }
  // Takes away the GPU's slices, and the jobs on them.
  void remove_layout(GpuIndex gpu) {
    for (SliceId slice = fleet_.slice_at(gpu, 0); slice < fleet_.slice_at(gpu + 1, 0); ++slice) {
      if (const auto at = model_.free.find(slice); at != model_.free.end()) {
        slices_.remove(slice, at->second);
        model_.free.erase(at);
      } else if (const auto held = taken_.find(slice); held != taken_.end()) {
        slices_.forget(slice, held->second);
        model_.busy[gpu] -= fleet_.kinds()[held->second].compute;
        taken_.erase(held);
      }
    }
  }
  void take_one() {
    if (model_.free.empty()) return;
    auto at = model_.free.lower_bound(static_cast<SliceId>(random_.below(fleet_.slice_count())));
    if (at == model_.free.end()) at = model_.free.begin();
    ASSERT_TRUE(slices_.is_free(at->first, at->second));
    slices_.take(at->first, at->second);
    ASSERT_FALSE(slices_.is_free(at->first, at->second));
    model_.busy[fleet_.gpu_of(at->first)] += fleet_.kinds()[at->second].compute;
    taken_.insert(*at);
    model_.free.erase(at);
  }
  void give_back_to_model(SliceId slice, KindIndex kind) {
    model_.busy[fleet_.gpu_of(slice)] -= fleet_.kinds()[kind].compute;
    model_.free[slice] = kind;
  }
  KindSet some_kinds() { return random_.bits() & ((KindSet{1} << fleet_.kinds().size()) - 1); }

  Fleet fleet_ = *Fleet::parse("40xA100-40GB+30xA30");
  std::vector<std::vector<SlotSet>> sets_{
      legal_sets(*fleet_.boards()[0], base_slots(*fleet_.boards()[0])),
      legal_sets(*fleet_.boards()[1], base_slots(*fleet_.boards()[1]))};
  FreeSlices slices_{fleet_, GetParam()};
  SlicesModel model_{fleet_, GetParam()};
  std::map<SliceId, KindIndex> taken_;
  Random random_{5, "free slices"};
};

TEST_P(FreeSlicesTest, AgreesWithAScanWhileJobsTakeAndGiveBack) {
  for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu) add_layout(gpu);
  for (int step = 0; step < 6000 && !HasFatalFailure(); ++step) {
    const std::uint64_t what = random_.below(10);
    if (what < 5) {
      take_one();
    } else if (what < 9 && !taken_.empty()) {
      auto at = taken_.lower_bound(static_cast<SliceId>(random_.below(fleet_.slice_count())));
      if (at == taken_.end()) at = taken_.begin();
      slices_.give_back(at->first, at->second);
      give_back_to_model(at->first, at->second);
      taken_.erase(at);
    } else {
      const auto gpu = static_cast<GpuIndex>(random_.below(fleet_.gpu_count()));
      remove_layout(gpu);
      add_layout(gpu);
    }
    if (step % 4 == 0) expect_same(slices_, model_, some_kinds());
  }
}

TEST_P(FreeSlicesTest, GivesBackAllByUndoingAndByTheSavedCopy) {
  for (GpuIndex gpu = 0; gpu < fleet_.gpu_count(); ++gpu) add_layout(gpu);
  for (int round = 0; round < 600 && !HasFatalFailure(); ++round) {
    if (random_.below(4) == 0) {  // Otherwise the copy of the last round is still true.
      const auto gpu = static_cast<GpuIndex>(random_.below(fleet_.gpu_count()));
      remove_layout(gpu);
      add_layout(gpu);
    }
    if (random_.below(4) == 0) {  // A mean alone.
      const auto gpu = static_cast<GpuIndex>(random_.below(fleet_.gpu_count()));
      model_.mean[gpu] = {7, 1 + static_cast<int>(random_.below(7))};
      slices_.set_mean_size(gpu, model_.mean[gpu].first, model_.mean[gpu].second);
    }
    // Below a quarter of the GPUs it undoes, above it copies; up to everything at times.
    for (std::uint64_t left = random_.below(random_.below(2) ? 17 : 400); left > 0; --left)
      take_one();
    expect_same(slices_, model_, some_kinds());
    const std::vector<std::pair<SliceId, KindIndex>> all(taken_.begin(), taken_.end());
    slices_.give_back_all(
        all, [](const auto& item) { return item.first; },
        [](const auto& item) { return item.second; });
    for (const auto& [slice, kind] : all) give_back_to_model(slice, kind);
    taken_.clear();
    expect_same(slices_, model_, some_kinds());
  }
}

INSTANTIATE_TEST_SUITE_P(AllOrders, FreeSlicesTest,
                         testing::Values(GpuOrder::kIndex, GpuOrder::kMostOccupied,
                                         GpuOrder::kLargestMeanSize),
                         [](const auto& order) {
                           return order.param == GpuOrder::kIndex          ? "Index"
                                  : order.param == GpuOrder::kMostOccupied ? "MostOccupied"
                                                                           : "LargestMeanSize";
                         });

TEST(FreeSlices, OrdersBoardsOfDifferentSizesByOccupiedFraction) {
  const Fleet fleet = *Fleet::parse("A100-40GB+A30");
  FreeSlices slices(fleet, GpuOrder::kMostOccupied);
  const auto add = [&](GpuIndex gpu, std::string_view layout) {
    for (SlotSet rest = *parse_layout(fleet.board(gpu), layout); rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      slices.add(fleet.slice_at(gpu, fleet.board(gpu).slots[slot].start),
                 fleet.kind_of_slot(gpu, slot));
    }
  };
  add(0, "3-2-1-1");
  add(1, "2-1-1");
  const auto best = [&] {
    return fleet.gpu_of(
        slices.first(std::countr_zero(slices.buckets(slices.kinds())), slices.kinds()));
  };
  const auto take_size = [&](GpuIndex gpu, int compute) {
    for (KindIndex kind = 0; kind < fleet.kinds().size(); ++kind) {
      const KindSet one = KindSet{1} << kind;
      if (fleet.kinds()[kind].compute != compute || !slices.kinds_on(gpu, one)) continue;
      return slices.take(slices.lowest(gpu, one), kind);
    }
  };
  EXPECT_EQ(best(), 0u) << "both empty: the lower index";
  take_size(1, 1);
  EXPECT_EQ(best(), 1u) << "1/4 against 0";
  take_size(0, 2);
  EXPECT_EQ(best(), 0u) << "2/7 against 1/4";
  take_size(1, 1);
  EXPECT_EQ(best(), 1u) << "2/7 against 2/4";
}

TEST(FreeSlicesDeathTest, RefusesToTakeWhatIsNotFree) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  FreeSlices slices(fleet, GpuOrder::kIndex);
  slices.add(0, 0);
  slices.take(0, 0);
  EXPECT_DEATH(slices.take(0, 0), "bit_forest");
}

}  // namespace
}  // namespace smartmig
