// The placers that choose a GPU first, then a slice on it: `edf`, `cedf` and `shortest-remaining`
// differ only in the orders of jobs and GPUs.
#include "policy/place.h"
#include "policy/placers.h"

namespace smartmig {
namespace {

class ByGpu : public Placer {
 public:
  ByGpu(JobOrder jobs, GpuOrder gpus) : jobs_(jobs), gpus_(gpus) {}
  std::unique_ptr<Placer> clone() const override { return std::make_unique<ByGpu>(*this); }
  JobOrder job_order() const override { return jobs_; }
  GpuOrder gpu_order() const override { return gpus_; }
  void decide(View& view, std::vector<Start>& starts) override {
    place_in_order(view, starts, [&](const Seen& seen, KindSet kinds) {
      return slowest_on_time_by_gpu(view, seen, kinds);
    });
  }

 private:
  JobOrder jobs_;
  GpuOrder gpus_;
};

}  // namespace

// Earliest deadline first, most packed GPU first.
std::unique_ptr<Placer> make_edf() {
  return std::make_unique<ByGpu>(JobOrder::kDeadline, GpuOrder::kMostOccupied);
}

// Categorical: jobs that gain most from large slices first, GPUs with large slices first.
std::unique_ptr<Placer> make_cedf() {
  return std::make_unique<ByGpu>(JobOrder::kClassDeadline, GpuOrder::kLargestMeanSize);
}

std::unique_ptr<Placer> make_shortest_remaining() {
  return std::make_unique<ByGpu>(JobOrder::kRemaining, GpuOrder::kLargestMeanSize);
}

}  // namespace smartmig
