#include "learn/partition_task.h"

#include <algorithm>
#include <bit>

#include "policy/partitioners.h"

namespace smartmig {
namespace {

EpisodeSettings checked_for_partition(const EpisodeSettings& settings) {
  SM_CHECK(settings.fleet->boards().size() == 1 && settings.policy.placer);
  SM_CHECK(settings.fleet->gpu_count() <= 0xffff);
  return with_sums(settings);
}

}  // namespace

PartitionTask::PartitionTask(const Settings& settings, std::size_t index)
    : episodes_(checked_for_partition(settings.episodes), index),
      one_head_(settings.one_head),
      queue_length_(settings.queue_length),
      turns_(settings.every) {
  SM_CHECK(!one_head_ || settings.episodes.fleet->gpu_count() == 1);
  const LayoutNumbers& numbers = episodes_.engine().state().aggregates().layouts(0);
  layouts_ = numbers.choices();
  for (const SlotSet layout : count_chain(settings.episodes.fleet->board(0)))
    chain_.push_back({numbers.number_of(layout), std::popcount(layout)});
  have_.resize(static_cast<std::size_t>(layouts_));
  want_.resize(have_.size());
}

void PartitionTask::restart(std::uint64_t block) {
  episodes_.restart(block);
  begin_episode();
}

void PartitionTask::begin_episode() {
  turns_.begin();
  SM_CHECK(go_on());
}

bool PartitionTask::go_on() {
  Engine& engine = episodes_.engine();
  const View view = engine.view();
  decision_.clear();
  while (engine.advance()) {
    if (engine.partitioner_due() && turns_.is_due(view)) {
      turns_.note(view);
      return true;
    }
    engine.partition(decision_);
    engine.place();
  }
  return false;
}

float PartitionTask::step(std::span<const std::uint16_t> chosen, bool& ended) {
  Engine& engine = episodes_.engine();
  const View view = engine.view();
  decision_.clear();
  if (one_head_) {
    const auto to = std::find(chosen.begin(), chosen.end(), 1) - chosen.begin();
    if (to < layouts_) move_one_gpu(view, static_cast<int>(to), decision_);
  } else {
    move_gpus(view, chosen, decision_);
  }
  engine.partition(decision_);
  engine.place();
  ended = !go_on();
  const float reward = episodes_.settle(episodes_.charge_by_sums(), ended);
  if (ended) begin_episode();
  return reward;
}

void PartitionTask::observe(std::span<float> inputs, std::span<std::uint8_t> mask,
                            std::span<std::uint16_t> members) {
  const View view = episodes_.engine().view();
  observe_layouts(view, queue_length_, inputs);
  std::fill(mask.begin(), mask.end(), 1);
  if (one_head_) {
    members[0] = 1;
    return;
  }
  const Aggregates& sums = view.aggregates();
  for (int n = 0; n < layouts_; ++n)
    members[static_cast<std::size_t>(n)] = static_cast<std::uint16_t>(sums.gpus_in(0, n));
}

void PartitionTask::advise(std::span<std::uint16_t> chosen) {
  std::fill(chosen.begin(), chosen.end(), 0);
  const View view = episodes_.engine().view();
  const Aggregates& sums = view.aggregates();
  std::uint32_t gpus = 0;
  for (int n = 0; n < layouts_; ++n) gpus += have_[n] = sums.gpus_in(0, n);
  // All GPUs take one step before any takes the next; `ahead` of them have taken one more.
  const auto jobs = static_cast<std::int64_t>(view.jobs_in_system());
  std::size_t step = 0;
  std::uint32_t ahead = 0;
  std::int64_t slices = std::int64_t{gpus} * chain_[0].slices;
  while (slices < jobs && step + 1 < chain_.size()) {
    const int more = chain_[step + 1].slices - chain_[step].slices;
    ahead =
        static_cast<std::uint32_t>(std::min<std::int64_t>(gpus, (jobs - slices + more - 1) / more));
    slices += std::int64_t{ahead} * more;
    if (ahead < gpus) break;
    ++step;
    ahead = 0;
  }
  if (one_head_) {
    chosen[static_cast<std::size_t>(chain_[step + (ahead > 0)].layout)] = 1;
    return;
  }
  std::fill(want_.begin(), want_.end(), 0);
  want_[chain_[step].layout] = gpus - ahead;
  if (ahead > 0) want_[chain_[step + 1].layout] = ahead;
  const auto move = [&](int from, int to) {
    const std::uint32_t some = std::min(have_[from], want_[to]);
    chosen[from * layouts_ + to] = static_cast<std::uint16_t>(some);
    have_[from] -= some;
    want_[to] -= some;
  };
  for (int n = 0; n < layouts_; ++n) move(n, n);
  for (int from = 0; from < layouts_; ++from) {
    for (int to = 0; to < layouts_; ++to) {
      if (to != from) move(from, to);
    }
  }
}

}  // namespace smartmig
