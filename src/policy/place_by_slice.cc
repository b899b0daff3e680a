// The placers that look at slices over all GPUs at once, for the job with the earliest deadline:
// the rules of the course project, and "slowest slice that ends on time, else the fastest".
#include "policy/place.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

using Choice = SliceId (*)(const View&, const Seen&, KindSet);

class BySlice : public Placer {
 public:
  explicit BySlice(Choice choose) : choose_(choose) {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<BySlice>(*this); }
  void decide(View& view, std::vector<Start>& starts) override {
    place_in_order(view, starts,
                   [&](const Seen& seen, KindSet kinds) { return choose_(view, seen, kinds); });
  }

 private:
  Choice choose_;
};

SliceId earliest_finish(const View& view, const Seen& seen, KindSet kinds) {
  return lowest_index(view, seen.fastest(kinds));
}
SliceId largest(const View& view, const Seen&, KindSet kinds) {
  return lowest_index(view, with_size(view.fleet(), kinds, false));
}
SliceId smallest(const View& view, const Seen&, KindSet kinds) {
  return lowest_index(view, with_size(view.fleet(), kinds, true));
}
SliceId any(const View& view, const Seen&, KindSet kinds) { return lowest_index(view, kinds); }

}  // namespace

std::unique_ptr<Placer> make_slowest_on_time() {
  return std::make_unique<BySlice>(smallest_on_time);
}
std::unique_ptr<Placer> make_earliest_finish() {
  return std::make_unique<BySlice>(earliest_finish);
}
std::unique_ptr<Placer> make_largest_first() { return std::make_unique<BySlice>(largest); }
std::unique_ptr<Placer> make_smallest_first() { return std::make_unique<BySlice>(smallest); }
std::unique_ptr<Placer> make_first_fit() { return std::make_unique<BySlice>(any); }

}  // namespace smartmig
