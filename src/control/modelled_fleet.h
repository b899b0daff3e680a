// What another policy would have made of the jobs that this fleet was given: a model whose orders
// are carried out exactly when they are expected to be, on a fleet that is always up and without
// faults, whole GPUs to begin with.
//
//   auto fleet = ModelledFleet::make(setup, {}, now);
//   fleet->submit(7, job, at_us);
//   fleet->advance(now);
//   fleet->totals().energy_j;
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <queue>
#include <vector>

#include "control/model.h"

namespace smartmig {

class ModelledFleet {
 public:
  struct Totals {
    double energy_j = 0;
    double power_w = 0;  // Now.
    std::int64_t done = 0, late = 0;
    double tardiness_s = 0;  // Sum over the jobs done.
  };

  // `setup` has the other policy; its limits are not this fleet's. Refuses what Model::make does.
  // A model remembers the jobs it has heard of; after so many it begins anew without those done.
  static Result<ModelledFleet> make(Setup setup, std::vector<Snapshot::QueuedJob> jobs, TimeUs now,
                                    std::int64_t remembered_jobs = 100'000);

  // Rounds are at least so far apart. 0: at every instant at which something happens, as in the
  // simulator.
  void set_gather(TimeUs gather_us) { gather_us_ = gather_us; }
  // What happens to a job, in the order it does; earlier than what was before counts as then.
  void submit(JobNumber number, const Job& job, TimeUs at_us);
  void withdraw(JobNumber number, TimeUs at_us);  // It was cancelled, or has failed.
  void advance(TimeUs now);                       // All that happens until then.

  Totals totals(TimeUs now) const;  // Once it has advanced to then.
  std::int64_t rounds() const { return rounds_; }
  std::size_t waiting() const { return model_.state().ready_count(); }
  // Nothing happens any more unless a job comes.
  bool idle() const { return next_us() == kNever; }

 private:
  ModelledFleet(Model model, std::int64_t remembered_jobs)
      : model_(std::move(model)), remembered_jobs_(remembered_jobs), next_round_us_(model_.now()) {}
  struct Ending {
    TimeUs at_us = 0;
    Order order;
    JobNumber job = 0;
    double left = 1;  // Of a job that saves.
    bool operator>(const Ending& other) const { return at_us > other.at_us; }
  };
  TimeUs next_round_us() const {
    return round_due_ ? next_round_us_ : std::max(next_round_us_, model_.next_due_us());
  }
  TimeUs next_us() const {
    return std::min(endings_.empty() ? kNever : endings_.top().at_us, next_round_us());
  }
  void apply(Event::Kind kind, TimeUs at_us, Event event);
  void end(const Ending& ending);
  void round(TimeUs at_us);
  void rebase();

  Model model_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  Totals totals_;  // Its energy is that of models before this one.
  std::int64_t remembered_jobs_;
  TimeUs gather_us_ = 0;
  TimeUs next_round_us_;  // Not before.
  std::int64_t rounds_ = 0;
  std::int64_t jobs_since_rebase_ = 0;
  bool round_due_ = true;
};

}  // namespace smartmig
