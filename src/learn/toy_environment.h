// Environments so small that what is best in them is known, for tests and measurements of trainers.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "learn/environment.h"

namespace smartmig {

// A task gives: kInputs, kActions, a Situation with an index, and
//   void begin(Situation&, Random&)                        an episode begins
//   void observe(const Situation&, float*, std::uint8_t* mask, std::uint16_t* members)
//   float step(Situation&, const std::uint16_t* counts, Random&, bool& ended)
template <class Task>
class ToyEnvironment final : public VectorEnvironment {
 public:
  ToyEnvironment(std::size_t count, std::uint64_t seed) : seed_(seed), situations_(count) {
    observations_.resize(count * Task::kInputs);
    masks_.resize(count * Task::kActions.size());
    members_.resize(count * Task::kActions.heads);
    rewards_.resize(count);
    ended_.resize(count);
    totals_.resize(count);
    restart(0);
  }

  std::size_t count() const override { return situations_.size(); }
  int observation_size() const override { return Task::kInputs; }
  ActionShape actions() const override { return Task::kActions; }
  std::span<const float> observations() const override { return observations_; }
  std::span<const std::uint8_t> masks() const override { return masks_; }
  std::span<const std::uint16_t> members() const override { return members_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const std::uint8_t> ended() const override { return ended_; }
  Finished take_finished() override {
    Finished out = std::exchange(finished_, {});
    if (out.episodes) out.mean_return /= static_cast<double>(out.episodes);
    return out;
  }

  void restart(std::uint64_t block) override {
    streams_.clear();
    for (std::size_t e = 0; e < count(); ++e) {
      streams_.emplace_back(seed_, "toy", block * count() + e);
      Task::begin(situations_[e], streams_[e]);
      totals_[e] = 0;
      observe(e);
    }
  }

  void step(std::span<const std::uint16_t> chosen, WorkerPool& pool) override {
    pool.run(count(), [&](std::size_t e) {
      bool over = false;
      rewards_[e] =
          Task::step(situations_[e], chosen.data() + e * Task::kActions.size(), streams_[e], over);
      ended_[e] = over;
      if (over) Task::begin(situations_[e], streams_[e]);
      observe(e);
    });
    for (std::size_t e = 0; e < count(); ++e) {
      totals_[e] += rewards_[e];
      if (!ended_[e]) continue;
      finished_.mean_return += std::exchange(totals_[e], 0);
      ++finished_.episodes;
    }
  }

 private:
  void observe(std::size_t e) {
    Task::observe(situations_[e], observations_.data() + e * Task::kInputs,
                  masks_.data() + e * Task::kActions.size(),
                  members_.data() + e * Task::kActions.heads);
  }

  std::uint64_t seed_;
  std::vector<typename Task::Situation> situations_;
  std::vector<Random> streams_;
  std::vector<float> observations_;
  std::vector<std::uint8_t> masks_;
  std::vector<std::uint16_t> members_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> ended_;
  std::vector<double> totals_;
  Finished finished_;
};

// One choice: option (context + 1) % 4 pays 1, the others nothing; one of the others is masked. The
// context comes in odd units, as raw observations do.
struct BanditTask {
  static constexpr int kInputs = 5;
  static constexpr ActionShape kActions{1, 4};
  struct Situation {
    int context = 0;
    int masked = 0;
  };
  static void begin(Situation& s, Random& random) {
    s.context = static_cast<int>(random.below(4));
    s.masked = (s.context + 2 + static_cast<int>(random.below(3))) % 4;
  }
  static void observe(const Situation& s, float* out, std::uint8_t* mask, std::uint16_t* members) {
    for (int i = 0; i < 4; ++i) {
      out[i] = s.context == i ? 500.0F : 300.0F;
      mask[i] = s.masked != i;
    }
    out[4] = 7;  // Never changes.
    *members = 1;
  }
  static float step(Situation& s, const std::uint16_t* counts, Random&, bool& ended) {
    ended = true;
    return counts[(s.context + 1) % 4] ? 1.0F : 0.0F;
  }
};

// Five members in two heads pull a mark on a line of nine places left, not at all, or right, to a
// goal; the mark goes where the most pull. A reward of -distance for 12 steps. How the members are
// split changes from step to step; at the ends of the line pulling outwards is masked.
struct TugTask {
  static constexpr int kInputs = 4;
  static constexpr ActionShape kActions{2, 3};
  static constexpr int kPlaces = 9;
  static constexpr int kSteps = 12;
  struct Situation {
    int place = 0;
    int goal = 0;
    int split = 0;
    int step = 0;
  };
  static void begin(Situation& s, Random& random) {
    s.place = static_cast<int>(random.below(kPlaces));
    s.goal = static_cast<int>(random.below(kPlaces));
    s.split = static_cast<int>(random.below(6));
    s.step = 0;
  }
  static void observe(const Situation& s, float* out, std::uint8_t* mask, std::uint16_t* members) {
    out[0] = static_cast<float>(s.place);
    out[1] = static_cast<float>(s.goal);
    out[2] = static_cast<float>(s.split);
    out[3] = static_cast<float>(s.step);
    for (int head = 0; head < 2; ++head) {
      mask[head * 3] = s.place > 0;
      mask[head * 3 + 1] = 1;
      mask[head * 3 + 2] = s.place + 1 < kPlaces;
    }
    members[0] = static_cast<std::uint16_t>(s.split);
    members[1] = static_cast<std::uint16_t>(5 - s.split);
  }
  static float step(Situation& s, const std::uint16_t* counts, Random& random, bool& ended) {
    const int right = counts[2] + counts[5];
    const int left = counts[0] + counts[3];
    s.place = std::clamp(s.place + (right > left) - (left > right), 0, kPlaces - 1);
    s.split = static_cast<int>(random.below(6));
    ended = ++s.step == kSteps;
    return -static_cast<float>(std::abs(s.place - s.goal));
  }
};

// As wide as the learned placer's, and cheap, so that the trainer is what is measured.
struct WideTask {
  static constexpr int kInputs = 88;
  static constexpr ActionShape kActions{1, 21};
  struct Situation {
    std::uint64_t bits = 1;
    int step = 0;
  };
  static void begin(Situation& s, Random& random) {
    s.bits = random.bits() | 1;
    s.step = 0;
  }
  static void observe(const Situation& s, float* out, std::uint8_t* mask, std::uint16_t* members) {
    for (int i = 0; i < kInputs; ++i) {
      out[i] = static_cast<float>((s.bits >> (i % 56)) & 255) * (1.0F / 256);
    }
    for (int i = 0; i < kActions.options; ++i) mask[i] = i == 0 || ((s.bits >> (i + 8)) & 3) != 0;
    *members = 1;
  }
  static float step(Situation& s, const std::uint16_t* counts, Random&, bool& ended) {
    const float reward = counts[s.bits % 21] ? 1.0F : 0.0F;
    s.bits = s.bits * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    ended = ++s.step == 200;
    return reward;
  }
};

}  // namespace smartmig
