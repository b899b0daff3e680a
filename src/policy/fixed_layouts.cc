// `none` and `static`: layouts that never change.
#include "policy/partitioners.h"

namespace smartmig {
namespace {

class Fixed : public Partitioner {
 public:
  explicit Fixed(std::vector<SlotSet> layouts) : layouts_(std::move(layouts)) {}
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Fixed>(*this); }
  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    layouts.assign(layouts_.begin(), layouts_.end());
    if (layouts.empty()) whole_gpus(view.fleet(), layouts);
  }
  void decide(View& view, Decision& decision) override {
    if (changed_.empty()) return;
    wanted_.clear();
    first_layouts(view, wanted_);
    for (const GpuIndex gpu : changed_) {
      if (view.gpu(gpu).up) aim_at(view, gpu, wanted_[gpu], decision);
    }
    std::erase_if(changed_, [&](GpuIndex gpu) { return view.gpu(gpu).up; });
  }
  void reconsider(GpuIndex gpu) override { changed_.push_back(gpu); }
  void take_over(const View& view) override {
    changed_.clear();
    for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) changed_.push_back(gpu);
  }

 private:
  std::vector<SlotSet> layouts_;   // Empty: whole GPUs.
  std::vector<SlotSet> wanted_;    // Room to work in.
  std::vector<GpuIndex> changed_;  // By others: on live fleets, and by policies before this one.
};

}  // namespace

void whole_gpus(const Fleet& fleet, std::vector<SlotSet>& layouts) {
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const Board& board = fleet.board(gpu);
    const int profile = board.largest_profile();
    std::size_t slot = 0;
    while (board.slots[slot].profile != profile) ++slot;
    layouts.push_back(SlotSet{1} << slot);
  }
}

std::unique_ptr<Partitioner> make_none() { return std::make_unique<Fixed>(std::vector<SlotSet>()); }
std::unique_ptr<Partitioner> make_static(std::vector<SlotSet> layouts) {
  return std::make_unique<Fixed>(std::move(layouts));
}

}  // namespace smartmig
