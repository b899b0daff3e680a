// Another policy beside the controller's own, on the same jobs, modelled: a thread of its own that
// takes at most a tenth of a core, so that decisions do not wait for it. All calls may come from
// any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/driver.h"
#include "control/modelled_fleet.h"

namespace smartmig {

class Counterfactual {
 public:
  // The other policy may not keep up with jobs that this fleet can do: with more than
  // `most_waiting` it is given up.
  Counterfactual(ModelledFleet fleet, std::string policy, const FleetClock& clock,
                 std::size_t most_waiting = 500'000);
  ~Counterfactual();
  Counterfactual(const Counterfactual&) = delete;
  Counterfactual& operator=(const Counterfactual&) = delete;

  void submitted(JobNumber job, const Job& work, TimeUs at_us);
  void left(JobNumber job, TimeUs at_us);  // Cancelled, or failed.

  const std::string& policy() const { return policy_; }
  // As it last stood, a fraction of a second ago; its energy up to `now`. None where it has fallen
  // so far behind that it was given up.
  std::optional<ModelledFleet::Totals> totals(TimeUs now) const;

 private:
  struct Change {
    JobNumber job = 0;
    std::optional<Job> work;  // None: it left.
    TimeUs at_us = 0;
  };
  void put(Change change);
  void run();
  void go_on(const std::vector<Change>& changes, TimeUs now);

  const std::string policy_;
  const FleetClock clock_;
  const std::size_t most_waiting_;
  ModelledFleet fleet_;  // Of the thread alone.

  mutable std::mutex mutex_;  // Guards all below.
  std::condition_variable changed_;
  std::vector<Change> changes_;
  ModelledFleet::Totals totals_;
  TimeUs totals_at_us_ = 0;
  bool given_up_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace smartmig
