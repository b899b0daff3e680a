// `met`: the slice that adds least to ET, energy and tardiness together.
#include "policy/place.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

class Met : public Placer {
 public:
  explicit Met(double energy_weight) : energy_weight_(energy_weight) {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<Met>(*this); }
  // Buckets of equal occupancy: within one, and for one kind of slice, all GPUs cost the same.
  GpuOrder gpu_order() const override { return GpuOrder::kMostOccupied; }

  void decide(View& view, std::vector<Start>& starts) override {
    place_in_order(view, starts,
                   [&](const Seen& seen, KindSet kinds) { return cheapest(view, seen, kinds); });
  }

 private:
  SliceId cheapest(const View& view, const Seen& seen, KindSet kinds) const {
    const FreeSlices& free = view.free();
    double best = 0;
    SliceId best_slice = kNone;
    for (std::uint64_t buckets = free.buckets(kinds); buckets; buckets &= buckets - 1) {
      const int bucket = std::countr_zero(buckets);
      for (KindSet rest = kinds; rest; rest &= rest - 1) {
        const SliceId slice = free.first(bucket, rest & -rest);
        if (slice == kNone) continue;
        const GpuIndex gpu = view.fleet().gpu_of(slice);
        const int kind = std::countr_zero(rest);
        const TimeUs until_end = seen.delay_us() + seen.remaining_us(kind);
        const double cost = added_cost(view, gpu, kind, until_end, seen.slack_us());
        if (best_slice == kNone || cost < best || (cost == best && slice < best_slice))
          best = cost, best_slice = slice;
      }
    }
    return best_slice;
  }

  // In the papers' units, W*min and minutes; the common divisor 1 + a is left out.
  double added_cost(const View& view, GpuIndex gpu, int kind, TimeUs us, TimeUs slack) const {
    const auto& watts = view.fleet().board(gpu).power.busy_w;
    const int busy = view.free().busy(gpu);
    const double added_w = watts[busy + view.fleet().kinds()[kind].compute] - watts[busy];
    constexpr double kMinute = static_cast<double>(kMinuteUs);
    return energy_weight_ * added_w * static_cast<double>(us) / kMinute +
           static_cast<double>(std::max<TimeUs>(0, us - slack)) / kMinute;
  }

  double energy_weight_;
};

}  // namespace

std::unique_ptr<Placer> make_met(double energy_weight) {
  return std::make_unique<Met>(energy_weight);
}

}  // namespace smartmig
