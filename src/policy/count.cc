// `count`: as many slices as jobs. Between two calls it only walks the steps by which the number of jobs changed.
#include <map>

#include "policy/partitioners.h"

namespace smartmig {
namespace {

// Each step adds one slice or two and keeps the mean size as large as it can (MODEL: chain of `count`).
const std::vector<std::string_view> kChain7 = {"7", "4-3", "3-2-2", "3-2-1-1", "2-2-1-1-1", "1-1-1-1-1-1-1"};
const std::vector<std::string_view> kChain4 = {"4", "2-2", "2-1-1", "1-1-1-1"};

class Count : public Partitioner {
 public:
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Count>(*this); }

  std::vector<SlotSet> first_layouts(const View& view) override {
    const Fleet& fleet = view.fleet();
    chains_.clear();
    for (const Board* board : fleet.boards()) {
      auto& chain = chains_.emplace_back();
      for (const std::string_view name : board->compute_slices == 7 ? kChain7 : kChain4) {
        const auto layout = parse_layout(*board, name);
        SM_CHECK(layout.has_value());
        chain.push_back(*layout);
      }
    }
    build_steps(view);
    return whole_gpus(fleet);
  }

  void decide(View& view, Decision& decision) override {
    if (view.health_changes() != health_seen_) {
      build_steps(view);
      walk_to(view.jobs_in_system());
      for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) touched_.push_back(gpu);
    } else {
      walk_to(view.jobs_in_system());
    }
    for (const GpuIndex gpu : touched_) {
      if (!view.gpu(gpu).up || asked_[gpu] == level_[gpu]) continue;
      asked_[gpu] = level_[gpu];
      aim_at(view, gpu, chains_[view.fleet().board_index(gpu)][level_[gpu]], decision);
    }
    touched_.clear();
  }

 private:
  struct Step {
    GpuIndex gpu;
    std::uint8_t to_level;
    std::uint8_t added;  // Slices.
  };

  // All GPUs that are up, last first, once for each level.
  void build_steps(const View& view) {
    const Fleet& fleet = view.fleet();
    const GpuIndex gpus = fleet.gpu_count();
    health_seen_ = view.health_changes();
    level_.assign(gpus, 0);
    asked_.resize(gpus, 0);
    steps_.clear();
    taken_ = 0;
    slices_ = 0;
    for (GpuIndex gpu = 0; gpu < gpus; ++gpu) slices_ += view.gpu(gpu).up;
    for (std::size_t level = 1; level < kChain7.size(); ++level) {
      for (GpuIndex gpu = gpus; gpu-- > 0;) {
        const auto& chain = chains_[fleet.board_index(gpu)];
        if (level >= chain.size() || !view.gpu(gpu).up) continue;
        const int added = slice_count(chain[level]) - slice_count(chain[level - 1]);
        steps_.push_back({gpu, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(added)});
      }
    }
  }

  void walk_to(std::size_t jobs) {
    while (taken_ < steps_.size() && slices_ < jobs) {
      const Step& step = steps_[taken_++];
      slices_ += step.added;
      level_[step.gpu] = step.to_level;
      touched_.push_back(step.gpu);
    }
    while (taken_ > 0 && slices_ - steps_[taken_ - 1].added >= jobs) {
      const Step& step = steps_[--taken_];
      slices_ -= step.added;
      level_[step.gpu] = static_cast<std::uint8_t>(step.to_level - 1);
      touched_.push_back(step.gpu);
    }
  }

  std::vector<std::vector<SlotSet>> chains_;  // By board.
  std::vector<Step> steps_;
  std::size_t taken_ = 0;   // Steps in force: the first `taken_`.
  std::size_t slices_ = 0;  // That they give.
  std::vector<std::uint8_t> level_;
  std::vector<std::uint8_t> asked_;  // The level last asked of the GPU.
  std::vector<GpuIndex> touched_;
  std::uint32_t health_seen_ = 0;
};

}  // namespace

std::unique_ptr<Partitioner> make_count() { return std::make_unique<Count>(); }

}  // namespace smartmig
