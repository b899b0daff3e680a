// `apparent-tardiness`: jobs in order of what a moment's delay of each is likely to cost for each
// moment of its work (the apparent tardiness cost of Vepsalainen and Morton, 1987): among late jobs
// the shortest first, among others the earlier the less slack they have. Both change with time, so
// it looks at all ready jobs at every call, and sorts as many as get a slice.
#include <algorithm>
#include <cmath>

#include "policy/place.h"
#include "policy/placers.h"
#include "policy/ready_jobs.h"

namespace smartmig {
namespace {

// Slack counts in so many times the mean time of the jobs that are ready.
constexpr double kLookAhead = 2;

class ApparentTardiness : public Placer {
 public:
  std::unique_ptr<Placer> clone() const override {
    return std::make_unique<ApparentTardiness>(*this);
  }
  GpuOrder gpu_order() const override { return GpuOrder::kLargestMeanSize; }

  void decide(View& view, std::vector<Start>& starts) override {
    if (view.free().kinds() == 0) return;
    rank(view);
    for (auto end = ranked_.end(); end != ranked_.begin(); --end) {
      const KindSet free = view.free().kinds();
      if (free == 0) return;
      std::pop_heap(ranked_.begin(), end, later);
      const Ranked& next = *(end - 1);
      if (!(free & next.kinds)) continue;
      const SliceId slice = slowest_on_time_by_gpu(view, view.look_at(next.job), free & next.kinds);
      view.mark_taken(slice);
      starts.push_back({next.job, slice, view.slice(slice).slot});
    }
  }

 private:
  struct Ranked {
    double score = 0;  // The least comes first.
    JobIndex job = 0;
    KindSet kinds = 0;
  };
  static bool later(const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.job > b.job;
  }

  void rank(const View& view) {
    ranked_.clear();
    double sum_us = 0;
    for_each_ready(view, order_, [&](JobIndex job, KindSet kinds) {
      if (kinds == 0) return;
      const TimeUs remaining_us = view.remaining_on_largest_us(job, kinds);
      sum_us += static_cast<double>(remaining_us);
      ranked_.push_back({static_cast<double>(remaining_us), job, kinds});
    });
    const double scale_us = kLookAhead * sum_us / static_cast<double>(ranked_.size());
    for (Ranked& ranked : ranked_) {
      const Seen seen = view.look_at(ranked.job);
      const double slack_us = static_cast<double>(seen.slack_us() - seen.delay_us()) - ranked.score;
      ranked.score = std::max(0., slack_us) / scale_us + std::log(ranked.score);
    }
    std::make_heap(ranked_.begin(), ranked_.end(), later);
  }

  std::vector<JobIndex> order_;  // Of a queue.
  std::vector<Ranked> ranked_;
};

}  // namespace

std::unique_ptr<Placer> make_apparent_tardiness() { return std::make_unique<ApparentTardiness>(); }

}  // namespace smartmig
