#include "learn/size_task.h"

#include <algorithm>

#include "learn/choice_walk.h"

namespace smartmig {

SizeTask::SizeTask(const Settings& settings, std::size_t index)
    : episodes_(with_sums(settings.episodes), index) {}

void SizeTask::restart(std::uint64_t block) {
  episodes_.restart(block);
  begin_episode();
}

void SizeTask::begin_episode() { walk_to_first_choice(episodes_.engine(), choices_); }

float SizeTask::step(std::span<const std::uint16_t> chosen, bool& ended) {
  Engine& engine = episodes_.engine();
  View view = engine.view();
  const auto size = std::find(chosen.begin(), chosen.end(), 1) - chosen.begin();
  choices_.choose(view, slice_of_size(view, choices_.kinds(), static_cast<int>(size)));
  ended = !walk_to_choice(engine, choices_);
  const float reward = episodes_.settle(episodes_.charge_by_sums(), ended);
  if (ended) begin_episode();
  return reward;
}

void SizeTask::observe(std::span<float> inputs, std::span<std::uint8_t> mask,
                       std::span<std::uint16_t> members) {
  observe_sizes(episodes_.engine().view(), choices_, inputs, mask);
  members[0] = 1;
}

void SizeTask::advise(std::span<std::uint16_t> chosen) {
  View view = episodes_.engine().view();
  const SliceId slice = smallest_on_time(view, view.look_at(choices_.job()), choices_.kinds());
  const int compute = view.fleet().kinds()[view.slice(slice).kind].compute;
  std::fill(chosen.begin(), chosen.end(), 0);
  chosen[static_cast<std::size_t>(size_index(compute))] = 1;
}

}  // namespace smartmig
