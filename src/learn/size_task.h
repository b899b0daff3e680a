// Placement by size as a task to learn, under layouts that change: the lower of two levels, with
// any partitioner above it. At each step the ready job with the earliest deadline gets the lowest
// free slice of a size, so that options and inputs do not grow with the fleet. The two levels are
// learned in turns: this one with the partitioner frozen, PartitionTask with this one's placer
// frozen.
#pragma once

#include "learn/episodes.h"
#include "policy/placement_inputs.h"

namespace smartmig {

class SizeTask {
 public:
  struct Settings {
    EpisodeSettings episodes;
  };
  SizeTask(const Settings& settings, std::size_t index);

  int observation_size() const { return kSizeInputs; }
  ActionShape actions() const { return {1, kSizeCount}; }
  void restart(std::uint64_t block);
  float step(std::span<const std::uint16_t> chosen, bool& ended);
  void observe(std::span<float> inputs, std::span<std::uint8_t> mask,
               std::span<std::uint16_t> members);
  // The choice of `slowest-on-time`.
  void advise(std::span<std::uint16_t> chosen);
  VectorEnvironment::Finished& finished() { return episodes_.finished(); }

 private:
  void begin_episode();

  Episodes episodes_;
  StepwisePlacement choices_;
};

}  // namespace smartmig
