// What the environments of every kind have in common: an engine that runs one training day after
// the other, and the account of what each cost. A kind of environment drives the engine from
// decision to decision and says what it charges; this begins and ends its episodes.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "fleet/objective.h"
#include "learn/day_pool.h"
#include "learn/environment.h"
#include "sim/engine.h"

namespace smartmig {

// What a reward charges, each as a multiple of its part in ET; the share of late jobs is 0 to 1.
// With the first two at 1 and the last at 0 the rewards of an episode sum to -ET.
struct RewardWeights {
  double tardiness = 1;
  double energy = 1;
  double late = 0;
};

struct EpisodeSettings {
  std::shared_ptr<const Fleet> fleet;
  std::shared_ptr<const DayPool> days;
  Policy policy;  // The port that is not learned, and what the fleet starts with.
  EngineOptions engine;
  double energy_weight = 2e-7;  // `a` of ET, in the papers' units.
  RewardWeights reward;
  std::uint64_t seed = 1;
  std::size_t environments = 8;
  // The first episode of a block begins at a random time of the day, so that environments stepped
  // together are not all at the same hour. Such an episode is not among those that finished.
  bool stagger = true;
};

// Costs in ET's units of what happened up to some time.
struct Charge {
  double tardiness = 0;
  double energy = 0;
  double late = 0;
  double weighed(const RewardWeights& weights) const {
    return weights.tardiness * tardiness + weights.energy * energy + weights.late * late;
  }
};

// For tasks that charge by the state's own sums of tardiness and see its aggregates.
EpisodeSettings with_sums(EpisodeSettings settings);

class Episodes {
 public:
  Episodes(const EpisodeSettings& settings, std::size_t environment);
  Episodes(const Episodes&) = delete;  // The engine points to part_.
  Episodes& operator=(const Episodes&) = delete;

  Engine& engine() { return engine_; }
  void restart(std::uint64_t block);
  // What `late_us` of tardiness, `late` late jobs and the engine's energy up to now come to.
  Charge charge(TimeUs late_us, std::size_t late) const;
  // The same by the state's sums; with_sums() has them on.
  Charge charge_by_sums();
  // The reward for having come from the last charge to this one. Where the episode ended with it,
  // the next one begins.
  float settle(const Charge& charge, bool ended);

  VectorEnvironment::Finished& finished() { return finished_; }  // Sums, not means.

 private:
  void begin(bool whole_day);
  void end(const Charge& charge);

  std::shared_ptr<const Fleet> fleet_;
  std::shared_ptr<const DayPool> days_;
  RewardWeights weights_;
  double energy_weight_;
  std::uint64_t seed_;
  std::size_t environment_;
  bool stagger_;
  Random draws_;
  JobTable part_;  // The end of a day, for an episode that begins within it.
  Engine engine_;
  bool whole_day_ = true;
  EtWeights et_;
  double per_job_ = 0;
  double charged_ = 0;
  double return_ = 0;
  VectorEnvironment::Finished finished_;
};

}  // namespace smartmig
