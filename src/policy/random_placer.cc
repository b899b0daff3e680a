// `random`: by deadline, a free slice drawn from all it runs on. It counts free slices over the
// whole fleet for each job.
#include "base/random.h"

#include "policy/place.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

class RandomPlacer : public Placer {
 public:
  explicit RandomPlacer(std::uint64_t seed) : random_(seed, "random placer") {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<RandomPlacer>(*this); }
  void reseed(std::uint64_t seed) override { *this = RandomPlacer(seed); }
  void decide(View& view, std::vector<Start>& starts) override {
    place_in_order(view, starts, [&](const Seen&, KindSet kinds) { return draw(view, kinds); });
  }

 private:
  static std::uint64_t starts_on(const View& view, GpuIndex gpu, KindSet kinds) {
    std::uint64_t starts = 0;
    for (; kinds; kinds &= kinds - 1) {
      starts |= view.free().starts(gpu, std::countr_zero(kinds));
    }
    return starts;
  }

  // The k-th free slice by index, k uniform.
  SliceId draw(const View& view, KindSet kinds) {
    const GpuIndex gpus = view.fleet().gpu_count();
    std::uint64_t count = 0;
    for (GpuIndex gpu = 0; gpu < gpus; ++gpu) count += std::popcount(starts_on(view, gpu, kinds));
    auto k = static_cast<int>(random_.below(count));
    for (GpuIndex gpu = 0;; ++gpu) {
      std::uint64_t starts = starts_on(view, gpu, kinds);
      if (k >= std::popcount(starts)) {
        k -= std::popcount(starts);
        continue;
      }
      for (; k > 0; --k) starts &= starts - 1;
      return view.fleet().slice_at(gpu, static_cast<std::uint32_t>(std::countr_zero(starts)));
    }
  }

  Random random_;
};

}  // namespace

std::unique_ptr<Placer> make_random(std::uint64_t seed) {
  return std::make_unique<RandomPlacer>(seed);
}

}  // namespace smartmig
