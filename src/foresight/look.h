// One look ahead: which of several contenders would do best from here on, on the same futures. A
// race: a contender that falls far behind on a future is stopped in the middle of it, and one that
// is surely worse takes no part in the next. What a look costs is counted in simulated events,
// never in time, so that the same inputs give the same choice on any machine.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "foresight/contenders.h"
#include "foresight/futures.h"
#include "sim/engine.h"

namespace smartmig {

struct LookTerms {
  FutureTerms future;
  // Job-minutes of tardiness that a watt-minute is worth.
  double per_watt_minute = 0;
  std::size_t least_futures = 3;
  std::size_t most_futures = 16;
  long most_events = 10'000;  // After the least futures: no further one after so many.
  double hopeless = 2;        // Times the least cost of a future: stopped there.
  double least_gain = 0.02;   // Of the present contender's cost: less is no reason to switch.
  double errors = 1;          // Nor is a gain below so many standard errors.
  int rests = 3;              // Looks that a contender without hope is left out of.
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
  // the simulated ones take over what they have learned. `rests` says in how many looks each is
  // left out, and is brought up to date.
  Answer choose(const View& view, const Present& present, const LookTerms& terms,
                std::size_t active, std::span<const Contender> learned, std::vector<int>& rests,
                Random random);

 private:
  struct Runner {
    Policy policy;
    std::unique_ptr<Engine> engine;  // Made when it is needed first.
    std::vector<double> costs;       // By future.
    bool races = true;
  };

  // What the contender costs on the future, or what it had cost when that was more than `limit`;
  // infinite where it leaves a job that never runs.
  double simulate(Runner& runner, const Partitioner& learned, double per_watt_minute, double limit);
  void run_future(const LookTerms& terms, std::size_t active, std::span<const Contender> learned);
  void drop_losers(const LookTerms& terms, std::size_t active, std::vector<int>& rests);
  std::size_t best(const LookTerms& terms, std::size_t active) const;

  const FleetSample& sample_;
  EngineOptions options_;
  double idle_w_ = 0;  // What boards draw in any case.
  std::vector<Runner> runners_;
  Future future_;
  long events_ = 0;
};

}  // namespace smartmig
