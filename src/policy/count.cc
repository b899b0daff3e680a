// `count`: as many slices as jobs. Between two calls it only walks the steps by which the number of
// jobs changed.
#include <bit>
#include <iterator>
#include <span>
#include <string_view>

#include "policy/partitioners.h"

namespace smartmig {
namespace {

// By the board's compute slices. Each step adds one slice or two (docs/model/semantics.md).
constexpr std::string_view kChain7[] = {"7",       "4-3",       "3-2-2",
                                        "3-2-1-1", "2-2-1-1-1", "1-1-1-1-1-1-1"};
constexpr std::string_view kChain4[] = {"4", "2-2", "2-1-1", "1-1-1-1"};
constexpr std::size_t kLevels = std::size(kChain7);

std::span<const std::string_view> chain_names(const Board& board) {
  if (board.compute_slices == 7) return kChain7;
  return kChain4;
}

class Count : public Partitioner {
 public:
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Count>(*this); }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    if (chains_.empty()) build_chains(view.fleet());
    asked_.assign(view.fleet().gpu_count(), 0);
    whole_.assign(view.fleet().gpu_count(), false);
    whole_gpus_.clear();
    touched_.clear();
    build_steps(view);
    whole_gpus(view.fleet(), layouts);
  }

  void decide(View& view, Decision& decision) override {
    if (view.health_changes() != health_seen_) {
      build_steps(view);
      for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) touched_.push_back(gpu);
    }
    walk_to(view.jobs_in_system());
    keep_whole_gpus(view);
    for (const GpuIndex gpu : touched_) {
      const std::uint8_t level = whole_[gpu] ? 0 : level_[gpu];
      if (!view.gpu(gpu).up || asked_[gpu] == level) continue;
      asked_[gpu] = level;
      aim_at(view, gpu, chain_of(view.fleet(), gpu)[level], decision);
    }
    touched_.clear();
  }

  void reconsider(GpuIndex gpu) override {
    asked_[gpu] = kNothing;
    touched_.push_back(gpu);
  }
  void take_over(const View& view) override {
    if (chains_.empty()) build_chains(view.fleet());
    const GpuIndex gpus = view.fleet().gpu_count();
    asked_.assign(gpus, kNothing);
    whole_.assign(gpus, false);
    whole_gpus_.clear();
    touched_.clear();
    build_steps(view);
    for (GpuIndex gpu = 0; gpu < gpus; ++gpu) touched_.push_back(gpu);
  }

 private:
  static constexpr std::uint8_t kNothing = 0xff;

  struct Step {
    GpuIndex gpu;
    std::uint8_t to_level;
    std::uint8_t added;  // Slices.
  };

  const std::vector<SlotSet>& chain_of(const Fleet& fleet, GpuIndex gpu) const {
    return chains_[fleet.board_index(gpu)];
  }

  void build_chains(const Fleet& fleet) {
    for (const Board* board : fleet.boards()) {
      const auto& chain = chains_.emplace_back(count_chain(*board));
      GpuIndex any = 0;  // A GPU of this board.
      while (&fleet.board(any) != board) ++any;
      auto& kinds = level_kinds_.emplace_back();
      for (const SlotSet layout : chain) {
        KindSet set = 0;
        for (SlotSet rest = layout; rest; rest &= rest - 1) {
          set |= KindSet{1} << fleet.kind_of_slot(any, std::countr_zero(rest));
        }
        kinds.push_back(set);
      }
    }
  }

  // A job that runs on none of the slices that the steps give would wait for ever: for each such
  // group of jobs the first GPU that could run them stays whole.
  void keep_whole_gpus(const View& view) {
    for (const GpuIndex gpu : whole_gpus_) whole_[gpu] = false, touched_.push_back(gpu);
    whole_gpus_.clear();
    const KindSet given = kinds_given();
    for (const State::Group& group : view.groups()) {
      if (group.queue.empty() || (group.kinds & given)) continue;
      for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu) {
        const int slot = std::countr_zero(chain_of(view.fleet(), gpu)[0]);
        if (!view.gpu(gpu).up || !(group.kinds >> view.fleet().kind_of_slot(gpu, slot) & 1))
          continue;
        if (!whole_[gpu]) whole_gpus_.push_back(gpu);
        whole_[gpu] = true;
        touched_.push_back(gpu);
        break;
      }
    }
  }

  // The kinds of slices that the steps in force give, by what is at each level of each board.
  KindSet kinds_given() const {
    KindSet kinds = 0;
    for (std::size_t board = 0; board < chains_.size(); ++board) {
      for (std::size_t level = 0; level < chains_[board].size(); ++level) {
        if (at_level_[board][level] > 0) kinds |= level_kinds_[board][level];
      }
    }
    return kinds;
  }

  // All GPUs that are up, last first, once for each level.
  void build_steps(const View& view) {
    const Fleet& fleet = view.fleet();
    const GpuIndex gpus = fleet.gpu_count();
    health_seen_ = view.health_changes();
    level_.assign(gpus, 0);
    steps_.clear();
    taken_ = 0;
    slices_ = 0;
    at_level_.assign(chains_.size(), {});
    board_of_.resize(gpus);
    for (GpuIndex gpu = 0; gpu < gpus; ++gpu) {
      board_of_[gpu] = fleet.board_index(gpu);
      slices_ += view.gpu(gpu).up;
      at_level_[board_of_[gpu]][0] += view.gpu(gpu).up;
    }
    for (std::size_t level = 1; level < kLevels; ++level) {
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
      set_level(step.gpu, step.to_level);
    }
    while (taken_ > 0 && slices_ - steps_[taken_ - 1].added >= jobs) {
      const Step& step = steps_[--taken_];
      slices_ -= step.added;
      set_level(step.gpu, step.to_level - 1);
    }
  }

  void set_level(GpuIndex gpu, int level) {
    --at_level_[board_of_[gpu]][level_[gpu]];
    ++at_level_[board_of_[gpu]][level];
    level_[gpu] = static_cast<std::uint8_t>(level);
    touched_.push_back(gpu);
  }

  // By board and level: the layout, the kinds of its slices, how many GPUs are up and there.
  std::vector<std::vector<SlotSet>> chains_;
  std::vector<std::vector<KindSet>> level_kinds_;
  std::vector<std::array<std::size_t, kLevels>> at_level_;
  std::vector<std::uint8_t> board_of_;
  std::vector<bool> whole_;  // Kept whole for jobs that run on nothing smaller.
  std::vector<GpuIndex> whole_gpus_;
  std::vector<Step> steps_;
  std::size_t taken_ = 0;   // Steps in force: the first `taken_`.
  std::size_t slices_ = 0;  // That they give.
  std::vector<std::uint8_t> level_;
  std::vector<std::uint8_t> asked_;  // The level last asked of the GPU, or kNothing.
  std::vector<GpuIndex> touched_;
  std::uint32_t health_seen_ = 0;
};

}  // namespace

std::vector<SlotSet> count_chain(const Board& board) {
  std::vector<SlotSet> chain;
  for (const std::string_view name : chain_names(board)) {
    const auto layout = parse_layout(board, name);
    SM_CHECK(layout.has_value());
    chain.push_back(*layout);
  }
  return chain;
}

std::unique_ptr<Partitioner> make_count() { return std::make_unique<Count>(); }

}  // namespace smartmig
