// `least-laxity`: the order is the slack each ready job would have left on the slice that it would
// get if it came first; the slices are then chosen as `slowest-on-time` does. Laxity changes with
// time, so it sorts all ready jobs at every call.
#include <algorithm>

#include "policy/place.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

class LeastLaxity : public Placer {
 public:
  std::unique_ptr<Placer> clone() const override { return std::make_unique<LeastLaxity>(*this); }

  void decide(View& view, std::vector<Start>& starts) override {
    const KindSet all_free = view.free().kinds();
    if (all_free == 0) return;
    order_.clear();
    ReadyOrder ready(view);
    KindSet job_kinds = 0;
    for (JobIndex job; (job = ready.next(all_free, job_kinds)) != kNone;) {
      const Seen seen = view.look_at(job);
      const SliceId slice = smallest_on_time(view, seen, all_free & job_kinds);
      const TimeUs laxity =
          seen.slack_us() - seen.delay_us() - seen.remaining_us(view.slice(slice).kind);
      order_.push_back({laxity, job, job_kinds});
    }
    std::sort(order_.begin(), order_.end(), [](const Ready& a, const Ready& b) {
      return a.laxity_us != b.laxity_us ? a.laxity_us < b.laxity_us : a.job < b.job;
    });
    for (const Ready& ready_job : order_) {
      const KindSet free = view.free().kinds();
      if (free == 0) return;
      if (!(free & ready_job.kinds)) continue;
      const SliceId slice =
          smallest_on_time(view, view.look_at(ready_job.job), free & ready_job.kinds);
      view.mark_taken(slice);
      starts.push_back({ready_job.job, slice, view.slice(slice).slot});
    }
  }

 private:
  struct Ready {
    TimeUs laxity_us;
    JobIndex job;
    KindSet kinds;
  };
  std::vector<Ready> order_;
};

}  // namespace

std::unique_ptr<Placer> make_least_laxity() { return std::make_unique<LeastLaxity>(); }

}  // namespace smartmig
