// One look ahead: which of several contenders would do best from here on, on the same futures. A
// race: a contender that falls far behind on a future is stopped in the middle of it, and one that
// is surely worse takes no part in the next. What a look costs is counted in simulated events,
// never in time, so that the same inputs give the same choice on any machine.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "foresight/contenders.h"
#include "foresight/evidence.h"
#include "foresight/futures.h"
#include "sim/engine.h"

namespace smartmig {

struct LookTerms {
  FutureTerms future;
  // Job-minutes of tardiness that a watt-minute is worth.
  double per_watt_minute = 0;
  // Jobs that are expected to come after a future's end and to find what is left of its queue.
  double later_arrivals = 0;
  std::size_t least_futures = 3;
  std::size_t most_futures = 16;
  long most_events = 10'000;  // After the least futures: no further one after so many.
  double hopeless = 2;        // Times the least cost of a future: stopped there.
  double least_gain = 0.02;   // Of the present contender's cost: less is no reason to switch.
  double errors = 1;          // Nor is a gain below so many standard errors.
  double kept = 0.8;          // Of what evidence counts, at each later look.
  int most_rests = 15;        // Looks that a contender is left out of at most.
};

class Look {
 public:
  // `contenders` are made for sample.fleet(); the sample must outlive the look. Of the view only
  // what never changes is taken.
  Look(const FleetSample& sample, std::vector<Contender> contenders, const View& view);

  struct Answer {
    std::size_t best = 0;
    long events = 0;  // Simulated: instants at which something happened.
  };
  // `active` is the contender that decides now, `learned` are those of the whole fleet, of which
  // the simulated ones take over what they have learned. `evidence` is of the same contenders, and
  // is brought up to date.
  Answer choose(const View& view, const Present& present, const LookTerms& terms,
                std::size_t active, std::span<const Contender> learned, Evidence& evidence,
                Random random);

 private:
  struct Runner {
    Policy policy;
    int effort = 1;
    std::unique_ptr<Engine> engine;  // Made when it is needed first.
    bool races = true;
  };

  // What a simulation has cost is counted from its begin.
  struct Meter {
    TimeUs begin_us = 0;
    TimeUs late_before_us = 0;
    TimeUs last_arrival_us = 0;
    // The time it takes to work off the queue that is left when no more jobs come, weighted by how
    // many wait, as a multiple of how many the present contender leaves waiting. Jobs that come
    // later still would find that queue in their way.
    double draining_us = 0;
  };

  double cost(State& state, const LookTerms& terms, const Meter& meter) const;
  double queue_left(const State& state, const Meter& meter);
  // What the contender costs on the future, or what it had cost when that was more than `limit`;
  // kForEver where it leaves a job that never runs.
  double simulate(Runner& runner, const Partitioner& learned, const LookTerms& terms, double limit);
  void run_future(const LookTerms& terms, std::size_t active, std::span<const Contender> learned);
  std::size_t leader(std::size_t active, const Evidence& evidence) const;
  void drop_losers(const LookTerms& terms, std::size_t active, Evidence& evidence);
  std::size_t best(const LookTerms& terms, std::size_t active, const Evidence& evidence) const;

  const FleetSample& sample_;
  EngineOptions options_;
  double idle_w_ = 0;  // What boards draw in any case.
  std::vector<Runner> runners_;
  Future future_;
  std::vector<double> costs_;  // On it, by contender.
  // Under the present contender, which is simulated first: how many of the future's jobs wait when
  // no more arrive, and what share of them is late.
  std::optional<double> first_queue_left_;
  std::optional<double> late_share_;
  long events_ = 0;
};

}  // namespace smartmig
