#include "learn/partition_task.h"

#include <algorithm>

namespace smartmig {
namespace {

EpisodeSettings with_sums(EpisodeSettings settings) {
  SM_CHECK(settings.fleet->boards().size() == 1 && settings.policy.placer);
  SM_CHECK(settings.fleet->gpu_count() <= 0xffff);
  settings.engine.aggregates = true;
  settings.engine.tardiness = true;
  return settings;
}

}  // namespace

PartitionTask::PartitionTask(const Settings& settings, std::size_t index)
    : episodes_(with_sums(settings.episodes), index),
      one_head_(settings.one_head),
      queue_length_(settings.queue_length),
      turns_(settings.every) {
  SM_CHECK(!one_head_ || settings.episodes.fleet->gpu_count() == 1);
  layouts_ = episodes_.engine().state().aggregates().layouts(0).choices();
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

Charge PartitionTask::charge() {
  State& state = episodes_.engine().state();
  return episodes_.charge(state.tardiness_us(), state.late_jobs());
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
  const Charge so_far = charge();
  const float reward = episodes_.reward(so_far);
  if (ended) {
    episodes_.end(so_far);
    begin_episode();
  }
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

}  // namespace smartmig
