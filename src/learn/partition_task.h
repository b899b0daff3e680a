// Partitioning as a task to learn, with any placer: every few events the controller sees
// distributions and says how many GPUs of each layout take which one next (a head for each layout,
// the papers' mean-field control), or, on one GPU, which layout it takes (one head).
#pragma once

#include "learn/episodes.h"
#include "policy/layout_control.h"

namespace smartmig {

class PartitionTask {
 public:
  struct Settings {
    EpisodeSettings episodes;  // The fleet has GPUs of one board.
    bool one_head = false;     // For a fleet of one GPU.
    bool queue_length = true;  // Ready jobs for each GPU as the last input.
    long every = 5;            // Events.
  };
  PartitionTask(const Settings& settings, std::size_t index);

  int observation_size() const { return layout_input_count(layouts_, queue_length_); }
  ActionShape actions() const { return {one_head_ ? 1 : layouts_, layouts_}; }
  void restart(std::uint64_t block);
  float step(std::span<const std::uint16_t> chosen, bool& ended);
  void observe(std::span<float> inputs, std::span<std::uint8_t> mask,
               std::span<std::uint16_t> members);
  // The layouts of `count`; of the GPUs as many as can stay as they are.
  void advise(std::span<std::uint16_t> chosen);
  VectorEnvironment::Finished& finished() { return episodes_.finished(); }

 private:
  void begin_episode();
  // To the next instant at which it decides; false at the end of the episode.
  bool go_on();

  Episodes episodes_;
  bool one_head_;
  bool queue_length_;
  int layouts_ = 0;
  EveryFewEvents turns_;
  struct Step {
    int layout;  // Its number.
    int slices;
  };
  std::vector<Step> chain_;          // Of `count`.
  std::vector<std::uint32_t> have_;  // By layout, of GPUs not advised yet,
  std::vector<std::uint32_t> want_;  // and wanted.
  Decision decision_;
};

}  // namespace smartmig
