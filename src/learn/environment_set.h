// VectorEnvironment over a kind of task. A Task is one environment:
//   Task(const Task::Settings&, std::size_t index)
//   int observation_size() const; ActionShape actions() const;
//   void restart(std::uint64_t block);                  // It then stands at its first decision.
//   float step(std::span<const std::uint16_t> chosen, bool& ended);   // The reward.
//   void observe(std::span<float>, std::span<std::uint8_t> mask, std::span<std::uint16_t> members);
//   Finished& finished();
//   void advise(std::span<std::uint16_t> chosen);   // Where a rule can say what it would choose.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "learn/environment.h"

namespace smartmig {

template <class Task>
class EnvironmentSet final : public VectorEnvironment {
 public:
  EnvironmentSet(const typename Task::Settings& settings, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) tasks_.push_back(std::make_unique<Task>(settings, i));
    inputs_ = static_cast<std::size_t>(tasks_.front()->observation_size());
    shape_ = tasks_.front()->actions();
    observations_.resize(count * inputs_);
    masks_.resize(count * size());
    members_.resize(count * heads());
    if constexpr (kAdvises) advice_.resize(masks_.size());
    rewards_.resize(count);
    ended_.resize(count);
    restart(0);
  }

  std::size_t count() const override { return tasks_.size(); }
  int observation_size() const override { return static_cast<int>(inputs_); }
  ActionShape actions() const override { return shape_; }
  std::span<const float> observations() const override { return observations_; }
  std::span<const std::uint8_t> masks() const override { return masks_; }
  std::span<const std::uint16_t> members() const override { return members_; }
  std::span<const std::uint16_t> advice() const override { return advice_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const std::uint8_t> ended() const override { return ended_; }

  void restart(std::uint64_t block) override {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i]->restart(block);
      observe(i);
    }
    std::fill(rewards_.begin(), rewards_.end(), 0.0f);
    std::fill(ended_.begin(), ended_.end(), 0);
  }

  void step(std::span<const std::uint16_t> chosen, WorkerPool& pool) override {
    // A turn is long against what handing it out costs.
    constexpr std::size_t kTurn = 8;
    pool.run((tasks_.size() + kTurn - 1) / kTurn, [&](std::size_t turn) {
      const std::size_t end = std::min(tasks_.size(), (turn + 1) * kTurn);
      for (std::size_t i = turn * kTurn; i < end; ++i) {
        bool ended = false;
        rewards_[i] = tasks_[i]->step(chosen.subspan(i * size(), size()), ended);
        ended_[i] = ended;
        observe(i);
      }
    });
  }

  Finished take_finished() override {
    Finished all;
    for (const auto& task : tasks_) {
      const Finished one = std::exchange(task->finished(), {});
      all.mean_et += one.mean_et;
      all.mean_return += one.mean_return;
      all.episodes += one.episodes;
    }
    const double episodes = std::max(1.0, static_cast<double>(all.episodes));
    all.mean_et /= episodes;
    all.mean_return /= episodes;
    return all;
  }

 private:
  static constexpr bool kAdvises = requires(Task & task) {
    task.advise(std::span<std::uint16_t>());
  };
  std::size_t size() const { return static_cast<std::size_t>(shape_.size()); }
  std::size_t heads() const { return static_cast<std::size_t>(shape_.heads); }
  void observe(std::size_t i) {
    tasks_[i]->observe(std::span(observations_).subspan(i * inputs_, inputs_),
                       std::span(masks_).subspan(i * size(), size()),
                       std::span(members_).subspan(i * heads(), heads()));
    if constexpr (kAdvises) tasks_[i]->advise(std::span(advice_).subspan(i * size(), size()));
  }

  std::vector<std::unique_ptr<Task>> tasks_;
  std::size_t inputs_ = 0;
  ActionShape shape_;
  std::vector<float> observations_;
  std::vector<std::uint8_t> masks_;
  std::vector<std::uint16_t> members_;
  std::vector<std::uint16_t> advice_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> ended_;
};

}  // namespace smartmig
