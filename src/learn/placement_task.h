// Placement as a task to learn: layouts that never change and no preemption; at each step the ready
// job with the earliest deadline gets one of the free slices on which it runs. A job's tardiness is
// known when it is placed and charged there; energy as it is drawn.
#pragma once

#include "learn/episodes.h"
#include "policy/placement_inputs.h"

namespace smartmig {

class PlacementTask {
 public:
  struct Settings {
    EpisodeSettings episodes;
    // Without it every slice may be chosen, and one that is taken stands for the first that is not.
    bool masked = true;
  };
  PlacementTask(const Settings& settings, std::size_t index);

  int observation_size() const { return inputs_.count(); }
  ActionShape actions() const { return {1, inputs_.slice_count()}; }
  void restart(std::uint64_t block);
  float step(std::span<const std::uint16_t> chosen, bool& ended);
  void observe(std::span<float> inputs, std::span<std::uint8_t> mask,
               std::span<std::uint16_t> members);
  VectorEnvironment::Finished& finished() { return episodes_.finished(); }

 private:
  void begin_episode();

  bool masked_ = true;
  std::vector<std::uint8_t> open_;  // By option, as of the last look.
  Episodes episodes_;
  PlacementInputs inputs_;
  StepwisePlacement choices_;
  TimeUs late_us_ = 0;  // Of the jobs placed so far.
  std::size_t late_ = 0;
};

}  // namespace smartmig
