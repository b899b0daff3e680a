#include "learn/placement_task.h"

#include <algorithm>

#include "learn/choice_walk.h"

namespace smartmig {
namespace {

EpisodeSettings checked_for_placement(EpisodeSettings settings) {
  SM_CHECK(settings.engine.preemption == Preemption::kOff && settings.engine.events.empty());
  return settings;
}

}  // namespace

PlacementTask::PlacementTask(const Settings& settings, std::size_t index)
    : masked_(settings.masked), episodes_(checked_for_placement(settings.episodes), index) {
  inputs_.begin(episodes_.engine().view());
  open_.resize(static_cast<std::size_t>(inputs_.slice_count()));
}

void PlacementTask::restart(std::uint64_t block) {
  episodes_.restart(block);
  begin_episode();
}

void PlacementTask::begin_episode() {
  late_us_ = 0;
  late_ = 0;
  walk_to_first_choice(episodes_.engine(), choices_);
}

float PlacementTask::step(std::span<const std::uint16_t> chosen, bool& ended) {
  Engine& engine = episodes_.engine();
  View view = engine.view();
  auto option = std::find(chosen.begin(), chosen.end(), 1) - chosen.begin();
  SM_CHECK(option < inputs_.slice_count());
  if (!open_[static_cast<std::size_t>(option)]) {
    SM_CHECK(!masked_);
    option = std::find(open_.begin(), open_.end(), 1) - open_.begin();
  }
  const SliceId slice = inputs_.slice(static_cast<int>(option));
  // What it is charged is the truth, which no policy sees.
  const JobState& job = engine.state().job_state(choices_.job());
  const double full_us =
      view.fleet().full_us(engine.state().job(choices_.job()), view.slice(slice).kind);
  const TimeUs late =
      view.now() + view.costs().start_us + State::whole_us(job.left * full_us) - job.deadline_us;
  late_us_ += std::max<TimeUs>(0, late);
  late_ += late > 0;
  choices_.choose(view, slice);
  ended = !walk_to_choice(engine, choices_);
  const float reward = episodes_.settle(episodes_.charge(late_us_, late_), ended);
  if (ended) begin_episode();
  return reward;
}

void PlacementTask::observe(std::span<float> inputs, std::span<std::uint8_t> mask,
                            std::span<std::uint16_t> members) {
  View view = episodes_.engine().view();
  inputs_.observe(view, choices_, inputs, open_);
  if (masked_) {
    std::copy(open_.begin(), open_.end(), mask.begin());
  } else {
    std::fill(mask.begin(), mask.end(), 1);
  }
  members[0] = 1;
}

}  // namespace smartmig
