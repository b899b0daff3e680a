#include "foresight/look.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smartmig {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kChecked = 16;  // Steps between two looks at what a simulation has cost.
constexpr std::size_t kStepsForEachJob = 50;
constexpr std::size_t kFewestSteps = 1000;
constexpr double kSure = 2;  // Standard errors by which a contender is surely worse.

// Boards without a job draw this under any policy.
double idle_w(const Fleet& fleet, const Costs& costs) {
  if (costs.power_down_after_us) return 0;
  double watts = 0;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) watts += fleet.board(gpu).power.busy_w[0];
  return watts;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// How much more `a` costs than `b`, on the futures that both have run.
struct Difference {
  double mean = 0;
  double error = 0;  // Of the mean.
};
Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = std::min(a.size(), b.size());
  Difference more;
  for (std::size_t i = 0; i < n; ++i) more.mean += (a[i] - b[i]) / static_cast<double>(n);
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(a[i] - b[i] - more.mean, 2);
  if (n > 1) more.error = std::sqrt(squares / static_cast<double>(n * (n - 1)));
  return more;
}

}  // namespace

Look::Look(const FleetSample& sample, std::vector<Contender> contenders, const View& view)
    : sample_(sample), idle_w_(idle_w(sample.fleet(), view.costs())) {
  options_.costs = view.costs();
  options_.preemption = view.preemption();
  options_.tardiness = true;
  for (Contender& contender : contenders) {
    Runner& runner = runners_.emplace_back();
    runner.policy = std::move(contender.policy);
  }
}

Look::Answer Look::choose(const View& view, const Present& present, const LookTerms& terms,
                          std::size_t active, std::span<const Contender> learned,
                          std::vector<int>& rests, Random random) {
  events_ = 0;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    runners_[i].costs.clear();
    runners_[i].races = rests[i] == 0 || i == active;
    rests[i] = std::max(0, rests[i] - 1);
  }
  const ErrorModel errors(view, terms.future.recent_jobs, present.done);
  for (std::size_t f = 0; f < terms.most_futures; ++f) {
    if (f >= terms.least_futures && events_ > terms.most_events) break;
    draw_future(view, sample_, present, terms.future, errors, random, future_);
    if (future_.table.jobs.empty()) return {active, events_};
    run_future(terms, active, learned);
    drop_losers(terms, active, rests);
    if (std::ranges::count_if(runners_, [](const Runner& r) { return r.races; }) <= 1) break;
  }
  return {best(terms, active), events_};
}

// The present contender first, so that there is something to compare with.
void Look::run_future(const LookTerms& terms, std::size_t active,
                      std::span<const Contender> learned) {
  double least = kInfinite;
  const auto run = [&](std::size_t i) {
    if (!runners_[i].races) return;
    const double cost = simulate(runners_[i], *learned[i].policy.partitioner, terms.per_watt_minute,
                                 least * terms.hopeless);
    runners_[i].costs.push_back(cost);
    least = std::min(least, cost);
  };
  run(active);
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    if (i != active) run(i);
  }
}

// Those that are surely worse than the best so far, and those that leave a job for ever. The
// present one stays as long as it could be kept.
void Look::drop_losers(const LookTerms& terms, std::size_t active, std::vector<int>& rests) {
  const Runner* best = nullptr;
  for (const Runner& runner : runners_) {
    if (runner.races && (!best || mean(runner.costs) < mean(best->costs))) best = &runner;
  }
  const double least = mean(best->costs);
  if (least == kInfinite) return;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    Runner& runner = runners_[i];
    if (!runner.races || &runner == best) continue;
    const double cost = mean(runner.costs);
    const bool hopeless = cost > terms.hopeless * least;
    bool loses = cost == kInfinite;
    if (!loses && runner.costs.size() >= terms.least_futures) {
      const Difference more = difference(runner.costs, best->costs);
      const double margin = i == active ? terms.least_gain * cost : 0;
      loses = more.mean > margin + kSure * more.error || (hopeless && i != active);
    }
    if (!loses) continue;
    runner.races = false;
    if (hopeless && i != active) rests[i] = terms.rests;
  }
}

std::size_t Look::best(const LookTerms& terms, std::size_t active) const {
  std::size_t best = active;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    if (!runners_[i].races) continue;
    if (!runners_[best].races || mean(runners_[i].costs) < mean(runners_[best].costs)) best = i;
  }
  if (best == active || !runners_[active].races) return best;
  const Difference gain = difference(runners_[active].costs, runners_[best].costs);
  const double least_gain = terms.least_gain * mean(runners_[active].costs);
  return gain.mean > std::max(least_gain, terms.errors * gain.error) ? best : active;
}

double Look::simulate(Runner& runner, const Partitioner& learned, double per_watt_minute,
                      double limit) {
  if (!runner.engine) {
    runner.engine =
        std::make_unique<Engine>(sample_.fleet(), future_.table, runner.policy, options_);
  }
  Engine& engine = *runner.engine;
  engine.policy().partitioner->learn_from(learned);
  engine.restart(future_.table, 1, future_.standing);
  const TimeUs begin_us = future_.standing.now_us;
  const TimeUs late_before_us = engine.state().tardiness_us();
  const auto cost = [&] {
    const TimeUs now = engine.state().now();
    const double joules = engine.state().power().energy_j(now) - idle_w_ * to_s(now - begin_us);
    return to_min(engine.state().tardiness_us() - late_before_us) +
           per_watt_minute * joules / kJoulesPerWattMinute;
  };
  const auto jobs = future_.table.jobs.size();
  const auto most_steps = static_cast<long>(kFewestSteps + kStepsForEachJob * jobs);
  bool too_dear = false;
  long steps = 0;
  while (!too_dear && steps < most_steps && engine.step())
    too_dear = ++steps % kChecked == 0 && cost() > limit;
  events_ += steps;
  // Of one that was stopped the cost so far is too little, but enough to tell. One that goes on for
  // ever, by stops and starts that lead nowhere, is as bad as one that leaves a job for ever.
  return engine.completed() == jobs || too_dear ? cost() : kInfinite;
}

}  // namespace smartmig
